// Package trace records everything that happened for one question: enough to show it, to
// send it elsewhere, and to answer the question again.
//
// A Recorder opens a trace; stages open spans below it through the context (Stage, Begin).
// Code that runs outside a trace pays nothing: without one in the context every span is
// nil, and the methods of a nil span do nothing. When the root ends, what is still open is
// closed as abandoned, so that a trace that leaves the question is always whole: each span
// closed with a status, each inside its parent.
//
// The finished trace goes to a Sink on the question's own goroutine as the values it was
// given. Turning them into JSON and protobuf, which costs many times the recording, is done
// beside the question by the Archive, the local store of traces. From there exporters
// (trace/mlflow, trace/otlp) take them at their own pace: the archive is also the spool, so
// that a server that is down costs a question nothing and loses no trace.
//
// The data model is OpenTelemetry's, https://opentelemetry.io/docs/specs/otel/trace/api/.
// The recorder is our own because the SDK costs twice as much for each question and its
// batch exporter drops what it cannot deliver within a minute.
package trace
