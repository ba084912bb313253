package vector

import (
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// guarded returns n bytes that end where memory ends: one more read is a fault.
func guarded(t *testing.T, n int) []byte {
	t.Helper()
	page := syscall.Getpagesize()
	size := (n+page-1)/page*page + page
	mem, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mprotect(mem[size-page:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return mem[size-page-n : size-page]
}

// Kernels neither read past rows or query nor write past the sums.
func TestKernelsStayWithinBounds(t *testing.T) {
	for _, dim := range []int{64, 128, 192, 384} {
		const n = 3
		rows := unsafe.Slice((*int8)(unsafe.Pointer(&guarded(t, n*dim)[0])), n*dim)
		out := unsafe.Slice((*int32)(unsafe.Pointer(&guarded(t, 4*n)[0])), n)
		q := &queryCodes{
			bytes: unsafe.Slice((*int8)(unsafe.Pointer(&guarded(t, dim)[0])), dim),
			words: unsafe.Slice((*int16)(unsafe.Pointer(&guarded(t, 2*dim)[0])), dim),
		}
		for i := range rows {
			rows[i] = int8(i)
		}
		q.set(rows[:dim])
		want := make([]int32, n)
		dotsGo(q, rows, n, want)
		for _, k := range kernels {
			clear(out)
			if k.dots(q, rows, n, out); !slices.Equal(out, want) {
				t.Errorf("%s at %d: %v, want %v", k.name, dim, out, want)
			}
		}
	}
}
