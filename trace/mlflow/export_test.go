package mlflow

import "net/http"

// Through makes an exporter use a transport of the test's.
func (e *Exporter) Through(rt http.RoundTripper) { e.client.http.Transport = rt }
