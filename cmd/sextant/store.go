package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/chroma"
	"github.com/sextant-rag/sextant/store/outbox"
	"github.com/sextant-rag/sextant/store/qdrant"
	"github.com/sextant-rag/sextant/store/sqlite"
)

// storeConfig says where documents are kept. Without a URL that is the data folder.
type storeConfig struct {
	URL string `yaml:"url"` // see storeKind; QDRANT_URL, CHROMA_URL
	Key string `yaml:"key"` // QDRANT_API_KEY, CHROMA_TOKEN
	// Header is how a Chroma server wants the key: X-Chroma-Token, else it is sent as
	// Authorization: Bearer (CHROMA_AUTH_HEADER). A user and a password stand in the URL.
	Header string `yaml:"header"`
	// Tenant and Database are Chroma's; they may stand in the URL's path instead.
	Tenant   string `yaml:"tenant"`   // CHROMA_TENANT
	Database string `yaml:"database"` // CHROMA_DATABASE
	// Names are what collections are called in a server, where that differs from their own
	// name (INCIDENTS_COLLECTION, REGULATIONS_COLLECTION, NEWS_COLLECTION).
	Names map[string]string `yaml:"names"`
	// ReadOnly refuses every change, as serve --read-only does.
	ReadOnly bool `yaml:"read_only"`
	// Prefix is put before every name on a server that several installations share.
	Prefix string `yaml:"prefix"`
	// AccessProxy gives short-lived tokens that each request carries (DOMINO_API_PROXY).
	AccessProxy string `yaml:"access_proxy"`
	// ApproximateFrom is the number of chunks from which vectors are searched by a graph.
	ApproximateFrom int64 `yaml:"approximate_from"`
	// What collections are made with on a cluster; docs/operations.md says which to choose.
	OnDisk      bool `yaml:"on_disk"`
	Shards      int  `yaml:"shards"`
	Replicas    int  `yaml:"replicas"`
	Consistency int  `yaml:"write_consistency"`
}

// environment lays what the environment says over c.
func (c *storeConfig) environment(env environment) {
	c.URL = cmp.Or(env["QDRANT_URL"], chromaURL(env["CHROMA_URL"]), c.URL)
	c.Key = cmp.Or(env["QDRANT_API_KEY"], env["CHROMA_TOKEN"], c.Key)
	c.Header = cmp.Or(env["CHROMA_AUTH_HEADER"], c.Header)
	c.Tenant, c.Database = cmp.Or(env["CHROMA_TENANT"], c.Tenant), cmp.Or(env["CHROMA_DATABASE"], c.Database)
	c.AccessProxy = cmp.Or(env["DOMINO_API_PROXY"], c.AccessProxy)
	names := map[string]string{"incidents": "ntsb_incidents", "regulations": "far_regulations", "news": "aviation_news"}
	for collection, name := range c.Names {
		names[collection] = name
	}
	for collection := range names {
		names[collection] = cmp.Or(env[strings.ToUpper(collection)+"_COLLECTION"], names[collection])
	}
	c.Names = names
}

// keyVariable is the environment variable that the key comes from.
func (c *storeConfig) keyVariable() string {
	if kind, _, err := storeAddress(c.URL); err == nil && kind == kindChroma {
		return "CHROMA_TOKEN"
	}
	return "QDRANT_API_KEY"
}

// chromaURL is CHROMA_URL, which people write as Chroma does, as storeAddress reads it.
func chromaURL(url string) string {
	if url == "" || strings.HasPrefix(url, "chroma+") {
		return url
	}
	return "chroma+" + url
}

// storeKind is a technology that keeps documents.
type storeKind string

const (
	kindFolder storeKind = "folder" // a path, file:// or nothing: the embedded store
	kindQdrant storeKind = "qdrant" // http, https, grpc, grpcs, each also as qdrant+http ...
	kindChroma storeKind = "chroma" // chroma+http, chroma+https
)

// storeAddress reads the address of a store: what keeps documents there, and its address
// without what only says that.
func storeAddress(text string) (storeKind, string, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return kindFolder, text, nil
	}
	kind, plain, mixed := strings.Cut(scheme, "+")
	if !mixed {
		kind, plain = string(kindQdrant), scheme
	}
	switch {
	case scheme == "file":
		u, err := url.Parse(text)
		if err != nil || u.Host != "" {
			return "", "", usage("%s is no address of a folder: it is file:///PATH.", text)
		}
		return kindFolder, u.Path, nil
	case kind == string(kindQdrant) && (plain == "http" || plain == "https" || plain == "grpc" || plain == "grpcs"):
		return kindQdrant, plain + "://" + rest, nil
	case kind == string(kindChroma) && (plain == "http" || plain == "https"):
		return kindChroma, plain + "://" + rest, nil
	}
	return "", "", usage("No store is known by %s://. A Qdrant server is http://HOST:6333 or grpc://HOST:6334, a Chroma server chroma+http://HOST:8000.", scheme)
}

// external reports whether documents are kept by a server, which any number of processes
// may use at once, and not in the data folder, which belongs to one.
func (s *session) external() bool {
	kind, _, err := storeAddress(s.config.Store.URL)
	return err == nil && kind != kindFolder
}

// openStore opens where this session keeps its documents. Nothing else opens it: what
// holds for every store that is used (names, keys, read-only) is said here once.
func (s *session) openStore(ctx context.Context) (store.Store, error) {
	if s.config.Store.URL == "" {
		return s.openFolder(ctx, s.config.Data)
	}
	st, err := s.openAddress(ctx, s.config.Store.URL)
	if err != nil || s.config.Store.ReadOnly || !s.external() {
		return st, err
	}
	return s.withOutbox(st)
}

// withOutbox has what is written wait in the data folder while the server is away. The
// folder's outbox of this server belongs to one process; others write without one.
func (s *session) withOutbox(st store.Store) (store.Store, error) {
	server := sha256.Sum256([]byte(withoutUser(s.config.Store.URL)))
	out, err := outbox.Open(filepath.Join(s.config.Data, "outbox", hex.EncodeToString(server[:8])), st)
	if errors.Is(err, store.ErrLocked) {
		return st, nil
	}
	if err != nil {
		return nil, errors.Join(s.storeError(err), st.Close())
	}
	return out, nil
}

// openAddress opens a store by its address.
func (s *session) openAddress(ctx context.Context, address string) (store.Store, error) {
	kind, address, err := storeAddress(address)
	if err != nil {
		return nil, err
	}
	switch kind {
	case kindFolder:
		return s.openFolder(ctx, address)
	case kindQdrant:
		return s.openQdrant(address)
	case kindChroma:
		return s.openChroma(address)
	}
	return nil, usage("No store is known by %s.", address)
}

// openChroma opens a Chroma server. The address may end in /TENANT/DATABASE, or in
// /DATABASE.
func (s *session) openChroma(address string) (store.Store, error) {
	c := s.config.Store
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, usage("The address of the Chroma server cannot be read. It is chroma+http://HOST:8000, with /TENANT/DATABASE behind it if they are not the default ones.")
	}
	switch parts := strings.Split(strings.Trim(u.Path, "/"), "/"); {
	case len(parts) > 2:
		return nil, usage("%s has more in its path than a tenant and a database.", withoutUser(address))
	case len(parts) == 2:
		c.Tenant, c.Database = parts[0], parts[1]
	default:
		c.Database = cmp.Or(parts[0], c.Database)
	}
	u.Path = ""
	st, err := chroma.Open(chroma.Options{URL: u.String(), Tenant: c.Tenant, Database: c.Database, Token: c.Key, TokenHeader: c.Header, Names: c.Names, ReadOnly: c.ReadOnly, Log: s.log(defaultLog)})
	if err != nil {
		return nil, usage("The address of the Chroma server cannot be used: %v.", err)
	}
	return st, nil
}

func (s *session) openQdrant(address string) (store.Store, error) {
	c := &s.config.Store
	st, err := qdrant.Open(qdrant.Options{URL: address, Key: c.Key, TokenProxy: c.AccessProxy, Names: c.Names, Prefix: c.Prefix, ReadOnly: c.ReadOnly,
		ApproximateFrom: c.ApproximateFrom, OnDisk: c.OnDisk, Shards: c.Shards, Replicas: c.Replicas, Consistency: c.Consistency, Log: s.log(defaultLog)})
	if errors.Is(err, qdrant.ErrGRPC) {
		return nil, &sextant.Error{Code: sextant.CodeBadRequest, Op: "store", Message: "This program does not speak gRPC.",
			Hint: "Use the server's REST port, http://HOST:6333; or build it with `go build -tags qdrant_grpc ./cmd/sextant`."}
	}
	if err != nil {
		return nil, usage("The store cannot be used: %s.", err)
	}
	return st, nil
}

// holder is the process that has the data folder, if documents are kept there.
func (s *session) holder() (sqlite.Process, bool) {
	if s.external() {
		return sqlite.Process{}, false
	}
	return sqlite.Holder(s.config.Data)
}

// inFolder refuses a verb that is about the files of the data folder where documents are
// kept by a server.
func (s *session) inFolder(verb string) error {
	if !s.external() {
		return nil
	}
	return &sextant.Error{Code: sextant.CodeBadRequest, Op: verb, Message: "The documents are kept by " + s.holding() + ", not in the data folder.",
		Hint: "`" + verb + "` is about data folders. A server has snapshots of its own; `sextant migrate` copies its documents into a folder."}
}

// holding is where documents are kept, for people.
func (s *session) holding() string {
	if s.external() {
		return withoutUser(s.config.Store.URL)
	}
	return s.config.Data
}

// withoutUser is an address without what may be a secret in it.
func withoutUser(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(not an address)"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
