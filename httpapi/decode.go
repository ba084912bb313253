package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/sextant-rag/sextant"
)

// maxBody bounds a request's body in bytes. The longest question is 16 KiB; the rest is
// room for filters and lists of collections.
const maxBody = 1 << 20

// readBody returns the body of a request that says it is JSON. The content type is not a
// formality: a form or text/plain is what a page of another site can send without asking
// the browser's permission first.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != "application/json" {
		return nil, &sextant.Error{Code: codeMediaType, Op: "read request", Message: "The request's body must be JSON.",
			Hint: "Send it with the header Content-Type: application/json."}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, &sextant.Error{Code: sextant.CodeTooLarge, Op: "read request",
			Message: fmt.Sprintf("The request is longer than %d bytes.", maxBody), Hint: "Ask the question alone and leave pasted text out.", Err: err}
	case err != nil:
		return nil, &sextant.Error{Code: sextant.CodeBadRequest, Op: "read request", Message: "The request broke off before its end.", Err: err}
	}
	return body, nil
}

// readStrict decodes the body into v. A name v does not have is refused, because a
// misspelt filter that is passed over in silence gives a wrong answer that looks right.
func readStrict(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return decodeError(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return badRequest("There is something after the end of the request's JSON object.", "")
	}
	return nil
}

func decodeError(err error) error {
	var wrongType *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	var known *sextant.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &wrongType) && wrongType.Field == "":
		return badRequest("The request must be a JSON object.", "")
	case errors.As(err, &wrongType):
		return badRequest(fmt.Sprintf("%s cannot be a %s.", wrongType.Field, wrongType.Value), "GET /openapi.json says what each field takes.")
	case errors.As(err, &syntax):
		return badRequest(fmt.Sprintf("The request is not JSON: it breaks at byte %d.", syntax.Offset), "")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return badRequest("The request's JSON is empty or ends too early.", "")
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return badRequest("The request has a field "+name+" that does not exist here.", "GET /openapi.json lists the fields.")
	}
	return badRequest("The request cannot be read.", "")
}
