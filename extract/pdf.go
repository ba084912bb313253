package extract

// pdfEngines are the engines an Extractor has started.
type pdfEngines struct{}

func (e *pdfEngines) close() error { return nil }
