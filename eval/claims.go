package eval

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Claim is a statement of a data set of claims with the documents that decide it.
type Claim struct {
	ID       string `json:"id"`
	Split    string `json:"split"`
	Text     string `json:"claim"`
	Evidence []struct {
		Document string `json:"doc_id"`
	} `json:"evidence"`
	Cited []string `json:"cited_doc_ids"`
}

// Documents are the ids of those that decide it or that it was written from.
func (c Claim) Documents() map[string]bool {
	out := map[string]bool{}
	for _, e := range c.Evidence {
		out[e.Document] = true
	}
	for _, id := range c.Cited {
		out[id] = true
	}
	return out
}

// OpenClaims reads the claims of a folder in the layout of SciFact (claims.jsonl) that some
// document decides: it supports or contradicts them. Split "" is validation.
func OpenClaims(dir, split string) ([]Claim, error) {
	if split == "" {
		split = "validation"
	}
	f, err := os.Open(filepath.Join(dir, "claims.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("eval: claims: %w", err)
	}
	defer f.Close()
	var out []Claim
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		var c Claim
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return nil, fmt.Errorf("eval: claims: line %d: %w", n, err)
		}
		if c.Split == split && len(c.Evidence) > 0 && strings.TrimSpace(c.Text) != "" {
			out = append(out, c)
		}
	}
	return out, lines.Err()
}
