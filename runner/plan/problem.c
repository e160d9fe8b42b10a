/* problem.c -- calls of a kg_op's functions, with what a missing one means. */
#include "plan/problem.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/text.h"
#include "plan/field.h"

static struct kg_op_server *servers;

void kg_op_server_add(struct kg_op_server *server)
{
    server->next = servers;
    servers = server;
}

static uint64_t digest_of(uint64_t digest, const kg_tensor *t)
{
    const int64_t said[] = { t->dtype, t->role, t->given, t->rank };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        digest = kg_mix64(digest + (uint64_t)said[i]);
    for (int i = 0; i < t->rank && i < KG_MAX_RANK; i++)
        digest = kg_mix64(digest + (uint64_t)t->dims[i]);
    return kg_mix64(digest + (uint64_t)(kg_tensor_unit(t) * 0x1p60));
}

int kg_tensors_digest(const kg_tensor *tensors, int count)
{
    uint64_t digest = 0;
    for (int i = 0; i < count; i++)
        digest = digest_of(digest, &tensors[i]);
    return kg_digest_31(digest);
}

static int digest_tensors(const kg_op *op, const void *problem)
{
    kg_tensor tensors[KG_MAX_TENSORS] = { 0 };
    int count = 0;
    if (op->tensors(problem, tensors, &count) || count < 0 || count > KG_MAX_TENSORS)
        return 0;
    return kg_tensors_digest(tensors, count);
}

int kg_op_answer(const kg_op *op, enum kg_question question, const void *problem, struct kg_answers *ret_answers,
                 kg_error *ret_error)
{
    if (question == KG_ASK_CHECK)
        return op->check ? op->check(problem, ret_error) : KG_OK;
    if (question == KG_ASK_TENSORS)
        return op->tensors(problem, ret_answers->tensors, &ret_answers->n_tensors);
    ret_answers->work = (struct kg_work){ .flops = op->flops(problem),
                                          .bytes = op->bytes(problem),
                                          .queries = op->queries ? op->queries(problem) : 1,
                                          .peak_ratio = op->peak_ratio ? op->peak_ratio(problem) : 1,
                                          .tensors = digest_tensors(op, problem) };
    return KG_OK;
}

static int ask(const kg_op *op, enum kg_question question, const void *problem, struct kg_answers *ret_answers,
               kg_error *ret_error)
{
    for (struct kg_op_server *s = servers; s; s = s->next)
        if ((const char *)op >= s->begin && (const char *)op < s->begin + s->size)
            return s->ask(s, op, question, problem, ret_answers, ret_error);
    return kg_op_answer(op, question, problem, ret_answers, ret_error);
}

int kg_problem_check(const kg_op *op, const void *problem, kg_error *ret_error)
{
    struct kg_answers answers = { 0 };
    int status = kg_fields_check(op->fields, problem, ret_error);
    return status || !op->check ? status : ask(op, KG_ASK_CHECK, problem, &answers, ret_error);
}

int kg_problem_work(const kg_op *op, const void *problem, struct kg_work *ret_work, kg_error *ret_error)
{
    struct kg_answers answers = { 0 };
    const struct kg_work *work = &answers.work;
    int status = ask(op, KG_ASK_WORK, problem, &answers, ret_error);
    if (!status && !(work->flops >= 0 && work->bytes >= 0 && isfinite(work->flops) && isfinite(work->bytes)))
        status = kg_fail(ret_error, KG_EINVAL, "op %s: %g FLOPs and %g bytes of a problem", op->name, work->flops,
                         work->bytes);
    if (!status)
        *ret_work = *work;
    return status;
}

/* So that bytes of all tensors can be summed in 64 bits. */
#define MOST_ELEMENTS (INT64_C(1) << 56)

static int check_tensor(const kg_op *op, const kg_tensor *t, kg_error *ret_error)
{
    int64_t room = MOST_ELEMENTS;
    if (!t->name || (t->role != KG_INPUT && t->role != KG_OUTPUT) || t->rank < 0 || t->rank > KG_MAX_RANK)
        return kg_fail(ret_error, KG_EINVAL, "op %s: tensor %s has no name, no role, or a rank that is not 0 to %d",
                       op->name, t->name ? t->name : "?", KG_MAX_RANK);
    for (int i = 0; i < t->rank; i++) {
        if (t->dims[i] < 1)
            return kg_fail(ret_error, KG_EINVAL, "op %s: dimension %d of tensor %s is %lld", op->name, i, t->name,
                           (long long)t->dims[i]);
        room /= t->dims[i];
    }
    return room ? KG_OK : kg_fail(ret_error, KG_EINVAL, "op %s: tensor %s is too large to count", op->name, t->name);
}

int kg_problem_tensors(const kg_op *op, const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count,
                       kg_error *ret_error)
{
    struct kg_answers answers = { 0 };
    bool output = false;
    int status = ask(op, KG_ASK_TENSORS, problem, &answers, ret_error);
    const int count = answers.n_tensors;
    memcpy(ret_tensors, answers.tensors, sizeof answers.tensors);
    *ret_count = count;
    if (status || count < 1 || count > KG_MAX_TENSORS)
        return kg_fail(ret_error, KG_EINVAL, "op %s cannot describe its tensors", op->name);
    for (int i = 0; i < count && !status; i++) {
        status = check_tensor(op, &ret_tensors[i], ret_error);
        output = output || ret_tensors[i].role == KG_OUTPUT;
    }
    return status || output ? status : kg_fail(ret_error, KG_EINVAL, "op %s has no output", op->name);
}

#define NO_FIELDS "-"

void kg_problem_format(const kg_op *op, const void *problem, char *ret_text, size_t size)
{
    kg_fields_format(op->fields, problem, ret_text, size);
    if (!*ret_text)
        (void)snprintf(ret_text, size, NO_FIELDS);
}

/* The text's "name=value" of a field; NULL: it has none. */
static const char *find_said(const char *text, const char *name, size_t *ret_length)
{
    for (const char *item = text; *item; item += *ret_length + (item[*ret_length] == ',')) {
        *ret_length = strcspn(item, ",");
        if (strcspn(item, "=") == strlen(name) && !strncmp(item, name, strlen(name)))
            return item;
    }
    return NULL;
}

static void add_changed_field(const kg_field *field, const void *problem, const char *was, char *change, size_t size)
{
    char value[64], is[200];
    double number = 0;
    size_t length = 0;
    const char *said = find_said(was, field->name, &length);
    kg_field_format(field, problem, value, sizeof value);
    (void)snprintf(is, sizeof is, "%s=%s", field->name, value);
    if (said && (strlen(is) != length || strncmp(said, is, length)))
        kg_text_join(change, size, ", ", "%.*s -> %s", (int)length, said, is);
    if (!said && !kg_field_get(field, problem, &number) && number != field->fallback)
        kg_text_join(change, size, ", ", "%s not given -> %s", field->name, is);
}

bool kg_problem_differs(const kg_op *op, const void *problem, const char *was, char *ret_change, size_t size)
{
    ret_change[0] = '\0';
    for (size_t i = 0; i < op->fields.count; i++)
        add_changed_field(&op->fields.items[i], problem, was, ret_change, size);
    for (const char *item = was; *item && strcmp(was, NO_FIELDS) != 0;) {
        const size_t length = strcspn(item, ","), name = strcspn(item, "=");
        if (!kg_fields_find(op->fields, item, name))
            kg_text_join(ret_change, size, ", ", "%.*s -> no such field", (int)length, item);
        item += length + (item[length] == ',');
    }
    return *ret_change;
}
