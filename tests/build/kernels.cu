// kernels.cu -- two kernels for kernel_table.sh, which edits the marked lines.

static __constant__ float lut[4] = { 1, 2, 3, 4 };

extern "C" __global__ void plain(float *x)
{
    __shared__ float shared[128];
    const float scale_by = 2.0f;
    shared[threadIdx.x % 128] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = scale_by * shared[127 - threadIdx.x % 128];
}

static __global__ void looked_up(float *x)
{
    x[threadIdx.x] *= lut[threadIdx.x % 4];
} /* looked up */

void launch(float *x)
{
    plain<<<1, 128>>>(x);
    looked_up<<<1, 128>>>(x);
}
