package vector

import (
	"errors"
	"math"
	"testing"
)

// Every half float is decoded to its value, by the definition, and encoded to itself.
func TestHalfFloatsOneByOne(t *testing.T) {
	for h := range 1 << 16 {
		exp, frac := h>>10&31, float64(h&0x3ff)
		want := math.Ldexp(1024+frac, exp-25)
		switch {
		case exp == 0:
			want = math.Ldexp(frac, -24)
		case exp == 31 && frac == 0:
			want = math.Inf(1)
		case exp == 31:
			want = math.NaN()
		}
		if h&0x8000 != 0 {
			want = -want
		}
		got := float64(fromHalf(uint16(h)))
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || math.Signbit(got) != (h&0x8000 != 0) {
			t.Fatalf("%#x is %v, want %v", h, got, want)
		}
		back, ok := toHalf(float32(want))
		if ok != (exp != 31) || ok && back != uint16(h) {
			t.Fatalf("%v becomes %#x, %v; want %#x", want, back, ok, h)
		}
	}
}

// Between two neighbours the nearer one is chosen, in the middle the even one.
func TestHalfFloatsAreTheNearest(t *testing.T) {
	for h := range uint16(0x7bff) {
		low, high := fromHalf(h), fromHalf(h+1)
		middle := low + (high-low)/2
		even := h + h&1
		for _, c := range []struct {
			x    float32
			want uint16
		}{
			{math.Nextafter32(middle, low), h}, {middle, even}, {math.Nextafter32(middle, high), h + 1},
		} {
			if got, ok := toHalf(c.x); !ok || got != c.want {
				t.Fatalf("%v becomes %#x, want %#x", c.x, got, c.want)
			}
			if got, ok := toHalf(-c.x); !ok || got != c.want|0x8000 {
				t.Fatalf("%v becomes %#x, want %#x", -c.x, got, c.want|0x8000)
			}
		}
	}
}

func TestHalfVectors(t *testing.T) {
	v := []float32{0, 1, -0.5, 65504, 1e-8, 0.1}
	b, err := AppendHalf([]byte{7}, v)
	if err != nil || len(b) != 1+2*len(v) || b[0] != 7 {
		t.Fatalf("%v, %v", b, err)
	}
	got := make([]float32, len(v))
	if err := DecodeHalf(got, b[1:]); err != nil {
		t.Fatal(err)
	}
	for i, x := range v {
		if diff := math.Abs(float64(got[i] - x)); diff > math.Abs(float64(x))/2048+1e-7 {
			t.Errorf("%v came back as %v", x, got[i])
		}
	}
	var dimension *DimensionError
	if err := DecodeHalf(got, b); !errors.As(err, &dimension) {
		t.Errorf("an odd number of bytes: %v", err)
	}
	for _, c := range []struct {
		x    float32
		want error
	}{
		{65520, ErrRange}, {-1e30, ErrRange}, {float32(math.Inf(1)), ErrNotFinite}, {float32(math.NaN()), ErrNotFinite},
	} {
		if b, err := AppendHalf([]byte{7}, []float32{1, c.x}); !errors.Is(err, c.want) || len(b) != 1 {
			t.Errorf("%v: %v, %v; want %v", c.x, b, err, c.want)
		}
	}
}
