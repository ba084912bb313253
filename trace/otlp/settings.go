package otlp

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/sextant-rag/sextant/trace"
)

// Settings say where a collector is. Names and meanings are those of OpenTelemetry's
// environment variables,
// https://opentelemetry.io/docs/specs/otel/protocol/exporter/.
type Settings struct {
	Endpoint    string // the full URL of the traces route
	Headers     http.Header
	Timeout     time.Duration
	Gzip        bool
	Certificate string // file with the authorities to trust, PEM
	ClientCert  string // files for mutual TLS, PEM
	ClientKey   string
	Resource    trace.Resource
}

// FromEnvironment reads the standard variables. ok is false when none names an endpoint.
func FromEnvironment(get func(name string) string, from trace.Resource) (s Settings, ok bool, err error) {
	signal := func(name string) string {
		return cmp.Or(get("OTEL_EXPORTER_OTLP_TRACES_"+name), get("OTEL_EXPORTER_OTLP_"+name))
	}
	s = Settings{Timeout: 10 * time.Second, Certificate: signal("CERTIFICATE"), ClientCert: signal("CLIENT_CERTIFICATE"), ClientKey: signal("CLIENT_KEY"), Resource: from}
	switch specific, base := get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), get("OTEL_EXPORTER_OTLP_ENDPOINT"); {
	case specific != "":
		s.Endpoint = specific // used as it is
	case base != "":
		s.Endpoint = strings.TrimSuffix(base, "/") + "/v1/traces"
	default:
		return s, false, nil
	}
	if u, err := url.Parse(s.Endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return s, false, errors.New("the OTLP endpoint is no http or https URL")
	}
	if p := cmp.Or(signal("PROTOCOL"), "http/protobuf"); p != "http/protobuf" {
		return s, false, fmt.Errorf("the OTLP protocol %q is not spoken: use http/protobuf", p)
	}
	switch c := signal("COMPRESSION"); c {
	case "", "none":
	case "gzip":
		s.Gzip = true
	default:
		return s, false, fmt.Errorf("the OTLP compression %q is not known: use gzip or none", c)
	}
	if text := signal("TIMEOUT"); text != "" {
		ms, err := strconv.Atoi(text)
		if err != nil || ms <= 0 {
			return s, false, fmt.Errorf("the OTLP timeout %q is no number of milliseconds", text)
		}
		s.Timeout = time.Duration(ms) * time.Millisecond
	}
	if s.Headers, err = headers(signal("HEADERS")); err != nil {
		return s, false, err
	}
	if err := s.resource(get); err != nil {
		return s, false, err
	}
	return s, true, nil
}

// headers reads "key=value,key=value" with percent-encoded values. An error never shows a
// value: it may be a secret.
func headers(text string) (http.Header, error) {
	out := http.Header{}
	for key, value := range pairs(text) {
		if key == "" {
			return nil, errors.New("the OTLP headers are not a list of key=value")
		}
		out.Set(key, value)
	}
	return out, nil
}

func (s *Settings) resource(get func(string) string) error {
	for key, value := range pairs(get("OTEL_RESOURCE_ATTRIBUTES")) {
		switch key {
		case "":
			return errors.New("OTEL_RESOURCE_ATTRIBUTES is not a list of key=value")
		case "service.name":
			s.Resource.Service = value
		default:
			s.Resource.Attributes = append(s.Resource.Attributes, trace.Attribute{Key: key, Value: value})
		}
	}
	s.Resource.Service = cmp.Or(get("OTEL_SERVICE_NAME"), s.Resource.Service)
	return nil
}

// pairs yields the pairs of a list; one that is none has an empty key.
func pairs(text string) func(func(key, value string) bool) {
	return func(yield func(key, value string) bool) {
		for pair := range strings.SplitSeq(text, ",") {
			if strings.TrimSpace(pair) == "" {
				continue
			}
			key, value, ok := strings.Cut(pair, "=")
			value, err := url.PathUnescape(strings.TrimSpace(value))
			if key = strings.TrimSpace(key); !ok || err != nil {
				key = ""
			}
			if !yield(key, value) {
				return
			}
		}
	}
}

// client is the HTTP client for the settings. Redirects are not followed: headers with
// credentials would go along.
func (s Settings) client() (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if s.Certificate != "" {
		pem, err := os.ReadFile(s.Certificate)
		if err != nil {
			return nil, fmt.Errorf("read the collector's certificate: %w", err)
		}
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("there is no certificate in %s", s.Certificate)
		}
	}
	if s.ClientCert != "" || s.ClientKey != "" {
		pair, err := tls.LoadX509KeyPair(s.ClientCert, s.ClientKey)
		if err != nil {
			return nil, fmt.Errorf("read the client's certificate: %w", err)
		}
		transport.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	return &http.Client{Transport: transport, Timeout: s.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, nil
}
