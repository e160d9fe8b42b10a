// called.cu -- for kernel_table.sh: two kernels call functions, which are compiled for each of them and spill where the
// kernel leaves them 32 registers.

extern "C" __device__ __noinline__ float spilling(const volatile float *x, int n)
{
    float kept[40], sum = 0;
    for (int i = 0; i < 40; i++)
        kept[i] = x[i * n];
    __syncthreads();
    for (int i = 0; i < 40; i++)
        sum += kept[i] * x[i + n];
    return sum;
}

extern "C" __device__ __noinline__ float calling(const volatile float *x, int n)
{
    return spilling(x, n) + spilling(x, n + 1) * x[n];
}

extern "C" __global__ void __launch_bounds__(1024, 2) calls(float *x)
{
    x[threadIdx.x] = calling(x, 7);
}

extern "C" __global__ void __launch_bounds__(128) calls_with_room(float *x)
{
    x[threadIdx.x] = calling(x, 7);
}
