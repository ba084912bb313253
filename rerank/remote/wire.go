package remote

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/sextant-rag/sextant/internal/endpoint"
)

// documentsRequest has the fields that all servers of this kind know, and no others: some
// refuse what they do not know (top_n here, top_k there, return_documents), and without
// them all answer for every document.
type documentsRequest struct {
	Model     string   `json:"model,omitempty"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
}

// textsRequest is that of Text Embeddings Inference. Raw scores are logits; without, they
// would be squeezed by a sigmoid that makes good texts alike.
type textsRequest struct {
	Query     string   `json:"query"`
	Texts     []string `json:"texts"`
	RawScores bool     `json:"raw_scores"`
	Truncate  bool     `json:"truncate"`
}

// A response is read from
//
//	{"results": [{"index", "relevance_score"}]}    Cohere, Jina, vLLM, Infinity, llama-server
//	{"data": [{"index", "relevance_score"}]}       Voyage
//	[{"index", "score"}]                           Text Embeddings Inference
type response []result

type result struct {
	Index     *int     `json:"index"`
	Relevance *float64 `json:"relevance_score"`
	Score     *float64 `json:"score"`
}

// UnmarshalJSON reads any of the forms.
func (r *response) UnmarshalJSON(data []byte) error {
	if data = bytes.TrimSpace(data); len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, (*[]result)(r))
	}
	var object struct {
		Results []result `json:"results"`
		Data    []result `json:"data"`
	}
	if err := json.Unmarshal(data, &object); err != nil {
		return err
	}
	if *r = object.Results; object.Results == nil {
		*r = object.Data
	}
	return nil
}

// scores puts the results in the order of the n texts. Each must be judged exactly once: a
// text the server left out is not one that it found bad.
func (r response) scores(n int) ([]float32, error) {
	if len(r) != n {
		return nil, fmt.Errorf("%w: %d scores for %d texts", endpoint.ErrResponse, len(r), n)
	}
	out, seen := make([]float32, n), make([]bool, n)
	for _, item := range r {
		score := item.Relevance
		if score == nil {
			score = item.Score
		}
		if item.Index == nil || score == nil {
			return nil, fmt.Errorf("%w: a result without index or score", endpoint.ErrResponse)
		}
		if *item.Index < 0 || *item.Index >= n || seen[*item.Index] {
			return nil, fmt.Errorf("%w: a score for text %d of %d, or a second one", endpoint.ErrResponse, *item.Index, n)
		}
		out[*item.Index], seen[*item.Index] = float32(*score), true
	}
	return out, nil
}
