// Package guidonv1 has the messages of the operations that are not part of Flipt v1:
// change records, import and export of documents, analyses, catalogs, explanations,
// comparisons, sessions and access. Its protobuf package is guidon.v1.
package guidonv1
