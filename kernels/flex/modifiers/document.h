/* document.h -- keys of the query's own document: several lie packed in a row. */
#ifndef FLEX_DOCUMENT_H
#define FLEX_DOCUMENT_H

#include "flex/modifier.h"

FLEX_MASK(document)
{
    const int *document = aux->document + b * aux->length;
    return document[q] == document[k];
}

#endif
