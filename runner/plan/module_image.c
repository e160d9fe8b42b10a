/* module_image.c -- one description of the tables' structs serves the writer and the reader. A pointer that kgate.h
 * gains gets a line here.
 */
#include "plan/module_image.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 16

/* ---- which members are pointers ------------------------------------------------------------------------------- */

enum what {
    A_TEXT,      /* to bytes that end in a zero */
    A_FUNCTION,  /* known to be there, or not */
    A_STRANGER,  /* left out */
    A_STRUCT,    /* to one of `shape` */
    STRUCTS,     /* to so many of them as the count that follows says */
    POINTERS,    /* to so many pointers to them */
    POINTERS_TO, /* to pointers to them, up to a NULL */
    TEXTS,       /* to texts, up to a NULL */
    NUMBERS,     /* to so many 64-bit numbers as the count that follows says */
    ROWS         /* a kg_table */
};

struct shape;
struct member {
    enum what what;
    size_t offset;
    const struct shape *shape;
};
struct shape {
    size_t size;
    const struct member *members;
    size_t n_members;
};
#define SHAPE(type, members)                                                                                           \
    {                                                                                                                  \
        sizeof(type), (members), sizeof(members) / sizeof *(members)                                                   \
    }

static const struct shape backend_shape;

static const struct member field_members[] = {
    { A_TEXT, offsetof(kg_field, name), NULL },
    { TEXTS, offsetof(kg_field, choices), NULL },
    { A_TEXT, offsetof(kg_field, help), NULL },
};
static const struct shape field_shape = SHAPE(kg_field, field_members);

static const struct member regime_members[] = {
    { A_TEXT, offsetof(kg_regime, name), NULL },
    { A_TEXT, offsetof(kg_regime, help), NULL },
    { A_STRANGER, offsetof(kg_regime, data), NULL },
    { A_FUNCTION, offsetof(kg_regime, change), NULL },
    { A_FUNCTION, offsetof(kg_regime, answer), NULL },
    { A_FUNCTION, offsetof(kg_regime, same), NULL },
    { A_STRANGER, offsetof(kg_regime, reserved), NULL },
    { A_STRANGER, offsetof(kg_regime, reserved) + sizeof(void *), NULL },
};
static const struct shape regime_shape = SHAPE(kg_regime, regime_members);

static const struct member op_members[] = {
    { A_TEXT, offsetof(kg_op, name), NULL },
    { A_TEXT, offsetof(kg_op, help), NULL },
    { STRUCTS, offsetof(kg_op, fields.items), &field_shape },
    { A_FUNCTION, offsetof(kg_op, check), NULL },
    { A_FUNCTION, offsetof(kg_op, tensors), NULL },
    { A_FUNCTION, offsetof(kg_op, reference_cpu), NULL },
    { A_FUNCTION, offsetof(kg_op, reference_cuda), NULL },
    { A_FUNCTION, offsetof(kg_op, flops), NULL },
    { A_FUNCTION, offsetof(kg_op, bytes), NULL },
    { A_FUNCTION, offsetof(kg_op, queries), NULL },
    { A_FUNCTION, offsetof(kg_op, peak_ratio), NULL },
    { STRUCTS, offsetof(kg_op, regimes.items), &regime_shape },
    { A_FUNCTION, offsetof(kg_op, error_scale_cpu), NULL },
    { A_FUNCTION, offsetof(kg_op, error_scale_cuda), NULL },
    { A_FUNCTION, offsetof(kg_op, give), NULL },
};
static const struct shape op_shape = SHAPE(kg_op, op_members);

static const struct member backend_members[] = {
    { A_TEXT, offsetof(kg_backend, name), NULL },
    { A_TEXT, offsetof(kg_backend, help), NULL },
    { A_STRANGER, offsetof(kg_backend, data), NULL },
    { A_TEXT, offsetof(kg_backend, toggles), NULL },
    { STRUCTS, offsetof(kg_backend, knobs.items), &field_shape },
    { POINTERS_TO, offsetof(kg_backend, candidates), &backend_shape },
    { A_FUNCTION, offsetof(kg_backend, supports), NULL },
    { A_FUNCTION, offsetof(kg_backend, open), NULL },
    { A_FUNCTION, offsetof(kg_backend, close), NULL },
    { A_FUNCTION, offsetof(kg_backend, prepare), NULL },
    { A_FUNCTION, offsetof(kg_backend, workspace), NULL },
    { A_FUNCTION, offsetof(kg_backend, stage), NULL },
    { A_FUNCTION, offsetof(kg_backend, launch), NULL },
    { A_FUNCTION, offsetof(kg_backend, release), NULL },
    { A_STRANGER, offsetof(kg_backend, self), NULL },
    { A_STRANGER, offsetof(kg_backend, arithmetic), NULL },
};
static const struct shape backend_shape = SHAPE(kg_backend, backend_members);

#define TEXT(type, name)                                                                                               \
    {                                                                                                                  \
        A_TEXT, offsetof(type, name), NULL                                                                             \
    }
static const struct member xfail_members[] = { TEXT(kg_xfail, pattern), TEXT(kg_xfail, reason) },
                           suite_regime_members[] = { TEXT(kg_suite_regime, regime), TEXT(kg_suite_regime, rows) },
                           excuse_members[] = { TEXT(kg_excuse, wrong), TEXT(kg_excuse, pattern),
                                                TEXT(kg_excuse, reason) },
                           variable_members[] = { TEXT(kg_variable, name), TEXT(kg_variable, field) };
static const struct shape xfail_shape = SHAPE(kg_xfail, xfail_members),
                          suite_regime_shape = SHAPE(kg_suite_regime, suite_regime_members),
                          excuse_shape = SHAPE(kg_excuse, excuse_members),
                          variable_shape = SHAPE(kg_variable, variable_members);

static const struct member suite_members[] = {
    { A_TEXT, offsetof(kg_suite, name), NULL },
    { A_TEXT, offsetof(kg_suite, help), NULL },
    { A_STRUCT, offsetof(kg_suite, op), &op_shape },
    { ROWS, offsetof(kg_suite, shapes), NULL },
    { ROWS, offsetof(kg_suite, cpu_shapes), NULL },
    { NUMBERS, offsetof(kg_suite, seeds.items), NULL },
    { POINTERS, offsetof(kg_suite, backends.items), &backend_shape },
    { A_STRUCT, offsetof(kg_suite, anchor), &backend_shape },
    { A_STRUCT, offsetof(kg_suite, cpu_anchor), &backend_shape },
    { STRUCTS, offsetof(kg_suite, xfails.items), &xfail_shape },
    { A_STRUCT, offsetof(kg_suite, contest.ours), &backend_shape },
    { A_STRUCT, offsetof(kg_suite, contest.baseline), &backend_shape },
    { A_STRUCT, offsetof(kg_suite, clean), &backend_shape },
    { STRUCTS, offsetof(kg_suite, regimes.items), &suite_regime_shape },
    { STRUCTS, offsetof(kg_suite, excuses.items), &excuse_shape },
    { STRUCTS, offsetof(kg_suite, environment.items), &variable_shape },
    { A_TEXT, offsetof(kg_suite, anchor_case), NULL },
};
static const struct shape suite_shape = SHAPE(kg_suite, suite_members);

static const struct member kernel_members[] = { TEXT(kg_kernel, name), TEXT(kg_kernel, arch),
                                                TEXT(kg_kernel, code_hash), TEXT(kg_kernel, compiler),
                                                TEXT(kg_kernel, notes) };
static const struct shape kernel_shape = SHAPE(kg_kernel, kernel_members);

static const struct member module_members[] = {
    TEXT(struct kg_module, name),
    TEXT(struct kg_module, git_sha),
    TEXT(struct kg_module, flags),
    { POINTERS, offsetof(struct kg_module, suites), &suite_shape },
    { STRUCTS, offsetof(struct kg_module, kernels), &kernel_shape },
};
static const struct shape module_shape = SHAPE(struct kg_module, module_members);

/* ---- writing --------------------------------------------------------------------------------------------------- */

struct kg_image_part {
    const void *own;
    const struct shape *shape;
    size_t at;
};

struct writer {
    struct kg_module_image *image;
    size_t room, parts_room;
    bool failed;
};

/* The place of `size` bytes more, copied from `from`; 0 where memory is out. */
static size_t add(struct writer *w, const void *from, size_t size)
{
    struct kg_module_image *image = w->image;
    const size_t at = (image->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (at + size > w->room) {
        const size_t room = 2 * (at + size) + 65536;
        char *grown = realloc(image->bytes, room);
        w->failed = w->failed || !grown;
        if (!grown)
            return 0;
        image->bytes = grown;
        w->room = room;
    }
    memset(image->bytes + image->size, 0, at - image->size);
    memcpy(image->bytes + at, from, size);
    image->size = at + size;
    return at;
}

static const void *load(const char *at)
{
    const void *pointer;
    memcpy(&pointer, at, sizeof pointer);
    return pointer;
}

static size_t load_size(const char *at)
{
    size_t size;
    memcpy(&size, at, sizeof size);
    return size;
}

static void store(struct writer *w, size_t at, uintptr_t value)
{
    if (!w->failed)
        memcpy(w->image->bytes + at, &value, sizeof value);
}

static void put_members(struct writer *w, size_t at, const struct shape *shape);

static void remember(struct writer *w, const void *own, const struct shape *shape, size_t at)
{
    struct kg_module_image *image = w->image;
    if (image->n_parts == w->parts_room) {
        w->parts_room = 2 * w->parts_room + 64;
        struct kg_image_part *grown = realloc(image->parts, w->parts_room * sizeof *grown);
        w->failed = w->failed || !grown;
        if (!grown)
            return;
        image->parts = grown;
    }
    image->parts[image->n_parts++] = (struct kg_image_part){ own, shape, at };
}

/* Tables name a struct more than once, and candidates may name each other. */
static size_t put_struct(struct writer *w, const void *own, const struct shape *shape)
{
    for (size_t i = 0; i < w->image->n_parts; i++)
        if (w->image->parts[i].own == own && w->image->parts[i].shape == shape)
            return w->image->parts[i].at;
    const size_t at = own ? add(w, own, shape->size) : 0;
    if (own && !w->failed)
        remember(w, own, shape, at);
    if (own && !w->failed)
        put_members(w, at, shape);
    return at;
}

static size_t put_structs(struct writer *w, const void *own, size_t count, const struct shape *shape)
{
    const size_t at = count && own ? add(w, own, count * shape->size) : 0;
    for (size_t i = 0; at && i < count && !w->failed; i++)
        put_members(w, at + i * shape->size, shape);
    return at;
}

static size_t put_text(struct writer *w, const char *text)
{
    return text ? add(w, text, strlen(text) + 1) : 0;
}

/* Pointers to structs, or to texts where `shape` is NULL. */
static size_t put_pointers(struct writer *w, const void *const *own, size_t count, const struct shape *shape)
{
    const size_t at = own && count ? add(w, own, count * sizeof *own) : 0;
    for (size_t i = 0; at && i < count && !w->failed; i++)
        store(w, at + i * sizeof *own, shape ? put_struct(w, own[i], shape) : put_text(w, own[i]));
    return at;
}

static size_t count_to_null(const void *const *own)
{
    size_t count = 0;
    while (own && own[count])
        count++;
    return own ? count + 1 : 0;
}

static size_t put_rows(struct writer *w, const kg_table *table)
{
    const size_t at = table->rows && table->count ? add(w, table->rows, table->count * table->row_size) : 0;
    for (size_t i = 0; at && i < table->count && !w->failed; i++)
        store(w, at + i * table->row_size, put_text(w, load((const char *)table->rows + i * table->row_size)));
    return at;
}

static uintptr_t put_member(struct writer *w, const char *own, const struct member *member)
{
    const void *to = load(own);
    const size_t count =
        member->what == STRUCTS || member->what == POINTERS || member->what == NUMBERS ? load_size(own + sizeof to) : 0;
    switch (member->what) {
    case A_TEXT:
        return put_text(w, to);
    case A_FUNCTION:
        return to != NULL;
    case A_STRANGER:
        return 0;
    case A_STRUCT:
        return put_struct(w, to, member->shape);
    case STRUCTS:
        return put_structs(w, to, count, member->shape);
    case POINTERS:
        return put_pointers(w, to, count, member->shape);
    case POINTERS_TO:
    case TEXTS:
        return put_pointers(w, to, count_to_null(to), member->shape);
    case NUMBERS:
        return to && count ? add(w, to, count * sizeof(uint64_t)) : 0;
    case ROWS:
        return put_rows(w, (const kg_table *)(const void *)own);
    }
    return 0;
}

/* Of the struct that was copied to `at`. */
static void put_members(struct writer *w, size_t at, const struct shape *shape)
{
    for (size_t i = 0; i < shape->n_members && !w->failed; i++) {
        kg_table own; /* the largest that a member is; the image moves as it grows */
        const struct member *member = &shape->members[i];
        const size_t room = shape->size - member->offset;
        memcpy(&own, w->image->bytes + at + member->offset, room < sizeof own ? room : sizeof own);
        store(w, at + member->offset, put_member(w, (const char *)&own, member));
    }
}

int kg_module_image_make(const struct kg_module *root, struct kg_module_image *ret_image, kg_error *ret_error)
{
    struct kg_module_image image = { 0 };
    struct writer w = { .image = &image };
    (void)put_struct(&w, root, &module_shape);
    if (w.failed) {
        kg_module_image_done(&image);
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for a module's tables");
    }
    *ret_image = image;
    return KG_OK;
}

void kg_module_image_done(struct kg_module_image *image)
{
    free(image->bytes);
    free(image->parts);
    *image = (struct kg_module_image){ 0 };
}

const kg_op *kg_module_image_op(const struct kg_module_image *image, size_t at)
{
    for (size_t i = 0; i < image->n_parts; i++)
        if (image->parts[i].at == at && image->parts[i].shape == &op_shape)
            return image->parts[i].own;
    return NULL;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

struct reader {
    char *bytes;
    size_t size;
    const struct shape **seen; /* by place: the struct there has its pointers */
    bool failed;
};

static void no_such_function(void)
{
    abort();
}

/* Where the offset that stands at `at` leads, with room for `count` of `size` there; NULL: nowhere. */
static char *follow(struct reader *r, const char *at, size_t count, size_t size)
{
    const size_t to = load_size(at);
    if (!to)
        return NULL;
    if (to >= r->size || to % ALIGNMENT || !size || count > (r->size - to) / size) {
        r->failed = true;
        return NULL;
    }
    return r->bytes + to;
}

/* The same; what counts some must be somewhere. */
static char *follow_list(struct reader *r, const char *at, size_t count, size_t size)
{
    char *to = follow(r, at, count, size);
    r->failed = r->failed || (count && !to);
    return to;
}

static void set(char *at, const void *pointer)
{
    memcpy(at, &pointer, sizeof pointer);
}

static void read_members(struct reader *r, char *at, const struct shape *shape);

static void read_struct(struct reader *r, char *at, const struct shape *shape)
{
    char *to = follow(r, at, 1, shape->size);
    set(at, to);
    const struct shape **seen = to ? &r->seen[(to - r->bytes) / ALIGNMENT] : NULL;
    if (!to || *seen == shape)
        return;
    r->failed = r->failed || *seen;
    *seen = shape;
    if (!r->failed)
        read_members(r, to, shape);
}

/* Zeros follow the image, so every text ends. */
static void read_text(struct reader *r, char *at)
{
    set(at, follow(r, at, 1, 1));
}

static void read_pointers(struct reader *r, char *at, size_t count, const struct shape *shape)
{
    char *to = follow(r, at, count, sizeof(void *));
    set(at, to);
    for (size_t i = 0; to && i < count && !r->failed; i++) {
        if (shape)
            read_struct(r, to + i * sizeof(void *), shape);
        else
            read_text(r, to + i * sizeof(void *));
    }
}

static size_t count_to_zero(struct reader *r, const char *at)
{
    size_t count = 0;
    const char *to = follow(r, at, 1, sizeof(void *));
    while (to && count < (r->size - (size_t)(to - r->bytes)) / sizeof(void *) && load_size(to + count * sizeof(void *)))
        count++;
    return count + 1;
}

static void read_rows(struct reader *r, char *at)
{
    const size_t count = load_size(at + offsetof(kg_table, count)), size = load_size(at + offsetof(kg_table, row_size));
    if (count && size < sizeof(void *))
        r->failed = true;
    char *to = r->failed ? NULL : follow_list(r, at, count, size ? size : 1);
    set(at, to);
    for (size_t i = 0; to && i < count && !r->failed; i++)
        read_text(r, to + i * size);
}

static void read_member(struct reader *r, char *at, const struct member *member)
{
    switch (member->what) {
    case A_TEXT:
        read_text(r, at);
        break;
    case A_FUNCTION:
        if (load_size(at)) {
            void (*function)(void) = no_such_function;
            memcpy(at, &function, sizeof function);
        }
        break;
    case A_STRANGER:
        set(at, NULL);
        break;
    case A_STRUCT:
        read_struct(r, at, member->shape);
        break;
    case STRUCTS: {
        const size_t count = load_size(at + sizeof(void *));
        char *to = follow_list(r, at, count, member->shape->size);
        set(at, to);
        for (size_t i = 0; to && i < count && !r->failed; i++)
            read_members(r, to + i * member->shape->size, member->shape);
        break;
    }
    case POINTERS:
        r->failed = r->failed || (load_size(at + sizeof(void *)) && !load_size(at));
        read_pointers(r, at, load_size(at + sizeof(void *)), member->shape);
        break;
    case POINTERS_TO:
    case TEXTS:
        read_pointers(r, at, count_to_zero(r, at), member->shape);
        break;
    case NUMBERS:
        set(at, follow_list(r, at, load_size(at + sizeof(void *)), sizeof(uint64_t)));
        break;
    case ROWS:
        read_rows(r, at);
        break;
    }
}

static void read_members(struct reader *r, char *at, const struct shape *shape)
{
    for (size_t i = 0; i < shape->n_members && !r->failed; i++)
        read_member(r, at + shape->members[i].offset, &shape->members[i]);
}

int kg_module_image_read(char *bytes, size_t size, const struct kg_module **ret_root, kg_error *ret_error)
{
    struct reader r = { .bytes = bytes, .size = size };
    if (size < sizeof **ret_root)
        return kg_fail(ret_error, KG_EINVAL, "its tables are cut");
    r.seen = calloc(size / ALIGNMENT + 1, sizeof *r.seen);
    if (!r.seen)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for a module's tables");
    read_members(&r, bytes, &module_shape);
    free(r.seen);
    if (r.failed)
        return kg_fail(ret_error, KG_EINVAL, "its tables are damaged");
    *ret_root = (const struct kg_module *)(const void *)bytes;
    return KG_OK;
}
