package sqlite

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sextant-rag/sextant/store"
)

var everyFault = flag.Bool("every-fault", false, "fail every single file operation, not some")

// Each operation on a database's files fails, once or from then on: the caller gets an
// error to decide on, nothing is acknowledged that is not durable, what was there can
// still be read, and opening again finds all of it.
func TestFailingDisk(t *testing.T) {
	t.Parallel()
	disk := registerFailingDisk()
	for _, f := range []fault{
		{op: "write", code: sqlite3.SQLITE_FULL, want: store.ErrFull},
		{op: "write", code: sqlite3.SQLITE_FULL, short: true, want: store.ErrFull},
		{op: "write", code: sqlite3.SQLITE_IOERR | 3<<8, want: store.ErrIO}, // SQLITE_IOERR_WRITE
		{op: "sync", code: sqlite3.SQLITE_IOERR | 4<<8, want: store.ErrIO},  // SQLITE_IOERR_FSYNC
		{op: "truncate", code: sqlite3.SQLITE_IOERR | 6<<8, want: store.ErrIO},
		{op: "read", code: sqlite3.SQLITE_IOERR | 1<<8, want: store.ErrIO},
		{op: "share", code: sqlite3.SQLITE_IOERR | 19<<8, want: store.ErrFull}, // SQLITE_IOERR_SHMSIZE
	} {
		for _, f.always = range []bool{false, true} {
			t.Run(fmt.Sprintf("%s code=%d short=%v always=%v", f.op, f.code, f.short, f.always), func(t *testing.T) {
				f.at = -1 // counts only
				n := live(t, disk, f)
				if n == 0 {
					t.Fatal("no such operation was seen")
				}
				rng := rand.New(rand.NewPCG(3, uint64(f.code)))
				some := 3
				if testing.Short() {
					some = 1
				}
				for f.at = range n {
					if *everyFault || f.at == n/2 || rng.IntN(n) < some {
						live(t, disk, f)
					}
				}
			})
		}
	}
}

// live lives some steps with a fault, and checks what the store says meanwhile and what
// is there afterwards. It returns how many operations of the kind there were.
func live(t *testing.T, disk *failingDisk, f fault) int {
	t.Helper()
	dir, l := t.TempDir(), life{seed: 5}
	acknowledged, tried := 0, 0
	disk.set(f)
	at := eager
	at.refresh, at.compact = 1<<30, 1<<30 // no work beside that fails in its own time
	s, err := Open(t.Context(), Options{Dir: dir, at: at, vfs: disk.name})
	if err == nil {
		acknowledged, tried, err = liveOn(t, s, disk, l)
	}
	if disk.failed() != (err != nil) && f.op != "truncate" && f.op != "read" && !disk.onlyCheckpoints() {
		t.Errorf("fault %+v: failed %v, but the error is %v", f, disk.failed(), err)
	}
	if err != nil && !errors.Is(err, f.want) && !errors.Is(err, store.ErrIO) && !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrFull) {
		t.Errorf("fault %+v: an error nobody can decide on: %v", f, err)
	}
	if s != nil {
		s.Close() // fails with the disk
	}
	n := disk.count()
	disk.set(fault{at: -1})
	healed := openWith(t, dir, at)
	c, err := healed.Ensure(t.Context(), l.spec())
	if err != nil {
		t.Fatalf("fault %+v: open again: %v", f, err)
	}
	ref := l.reference(acknowledged)
	if diff, err := differs(c, ref); err != nil {
		t.Fatalf("fault %+v: %v", f, err)
	} else if diff != "" && tried > acknowledged {
		l.follow(ref, acknowledged)
	}
	mustBe(t, c, ref)
	healed.Close()
	return n
}

// On a volume without room for anything, what is there is read, and a change says that
// there is no room; a moment without room, as when a derived file is written and given
// up, is waited for. SQLite tells of it when it makes the index of its log, or when it
// writes.
func TestOpenFullVolume(t *testing.T) {
	disk := registerFailingDisk()
	for _, f := range []fault{
		{op: "share", code: sqlite3.SQLITE_IOERR | 19<<8}, // SQLITE_IOERR_SHMSIZE
		{op: "write", code: sqlite3.SQLITE_FULL},
	} {
		for _, f.always = range []bool{false, true} {
			t.Run(fmt.Sprintf("%s always=%v", f.op, f.always), func(t *testing.T) {
				dir, l := t.TempDir(), life{seed: 7}
				s := openWith(t, dir, eager)
				c, err := s.Ensure(t.Context(), l.spec())
				if err != nil {
					t.Fatal(err)
				}
				if err := l.live(t.Context(), c, 0); err != nil {
					t.Fatal(err)
				}
				s.Close()

				disk.set(f)
				defer disk.set(fault{at: -1})
				full, err := Open(t.Context(), Options{Dir: dir, at: eager, vfs: disk.name})
				if err != nil {
					t.Fatal(err)
				}
				defer full.Close()
				if c, err = full.Open(t.Context(), l.spec().Name); err != nil {
					t.Fatal(err)
				}
				mustBe(t, c, l.reference(1))
				err = l.live(t.Context(), c, 1)
				if f.always && !errors.Is(err, store.ErrFull) {
					t.Errorf("a change on a full volume: %v", err)
				}
				if f.op == "share" && !f.always && err != nil {
					t.Errorf("a change after a moment without room: %v", err)
				}
			})
		}
	}
}

// liveOn lives until the first error; then nothing more is written if the disk failed
// in syncing, and what was acknowledged can be read if the disk reads.
func liveOn(t *testing.T, s *Store, disk *failingDisk, l life) (acknowledged, tried int, err error) {
	c, err := s.Ensure(t.Context(), l.spec())
	if err != nil {
		return 0, 0, err
	}
	for ; acknowledged < 8; acknowledged++ {
		if err = l.live(t.Context(), c, acknowledged); err != nil {
			tried = acknowledged + 1
			break
		}
	}
	f := disk.now()
	if f.op == "sync" && disk.failed() { // of a commit, or of copying the log after one
		again := l.live(t.Context(), c, acknowledged)
		if again == nil {
			t.Errorf("fault %+v: acknowledged after a failed sync", f)
		}
		if err == nil {
			tried, err = acknowledged+1, again
		}
	}
	if f.op != "read" {
		if diff, e := differs(c, l.reference(acknowledged)); e != nil || diff != "" {
			t.Errorf("fault %+v: after %d steps the store reads %v %s", f, acknowledged, e, diff)
		}
	}
	return acknowledged, tried, err
}

// fault is a file operation that fails: the at-th of its kind, and all later ones if
// always. An at of -1 never comes.
type fault struct {
	op     string
	at     int
	always bool
	short  bool // half is written first
	code   int32
	want   error
}

// failingDisk is a file system of SQLite on top of the usual one that fails on demand.
type failingDisk struct {
	name string

	mu       sync.Mutex
	fault    fault
	seen     int
	hits     int
	hitsMain int // of these, on the file itself: only checkpoints write it once it exists
	names    map[uintptr]string
}

func (d *failingDisk) set(f fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault, d.seen, d.hits, d.hitsMain = f, 0, 0, 0
}

func (d *failingDisk) now() fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fault
}

func (d *failingDisk) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen
}

func (d *failingDisk) failed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hits > 0
}

// onlyCheckpoints reports whether every failure was one of copying the log, which harms
// no commit: it is in the log.
func (d *failingDisk) onlyCheckpoints() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hits == d.hitsMain
}

// fails counts an operation and says whether it fails.
func (d *failingDisk) fails(op string, file uintptr) (fault, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if op != d.fault.op {
		return d.fault, false
	}
	n := d.seen
	d.seen++
	if d.fault.at < 0 || n != d.fault.at && !(d.fault.always && n > d.fault.at) {
		return d.fault, false
	}
	d.hits++
	if filepath.Ext(d.names[file]) == ".db" {
		d.hitsMain++
	}
	return d.fault, true
}

// What follows puts Go functions into SQLite's tables of file operations. A method is
// the address of a Go function value, as modernc.org/sqlite's own translation of C has
// them; the tables are copies of those of the usual file system, which live as long as
// the process.
type (
	openMethod     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	transferMethod = func(tls *libc.TLS, file, buf uintptr, n int32, offset int64) int32
	syncMethod     = func(tls *libc.TLS, file uintptr, flags int32) int32
	truncateMethod = func(tls *libc.TLS, file uintptr, size int64) int32
	sharedMethod   = func(tls *libc.TLS, file uintptr, page, size, extend int32, out uintptr) int32
)

var (
	diskOnce sync.Once
	theDisk  = &failingDisk{name: "failing", names: map[uintptr]string{}}
	tables   = map[uintptr]uintptr{} // by the table they are copied from
	keep     []any                   // what only SQLite points to
)

// allocate makes room for a T where SQLite may keep a pointer to it, for good.
func allocate[T any](tls *libc.TLS) uintptr {
	var zero T
	p := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(zero)))
	if p == 0 {
		panic("no memory")
	}
	return p
}

func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

func method[F any](address uintptr) F {
	return *(*F)(unsafe.Pointer(&address))
}

func address[F any](f F) uintptr {
	keep = append(keep, f)
	return *(*uintptr)(unsafe.Pointer(&f))
}

func registerFailingDisk() *failingDisk {
	diskOnce.Do(func() {
		tls := libc.NewTLS()
		usual := sqlite3.Xsqlite3_vfs_find(tls, 0)
		vfs := *at[sqlite3.Tsqlite3_vfs](usual)
		name, err := libc.CString(theDisk.name)
		if err != nil {
			panic(err)
		}
		vfs.FzName = name
		open := method[openMethod](vfs.FxOpen)
		vfs.FxOpen = address(func(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
			code := open(tls, usual, name, file, flags, out)
			if code == sqlite3.SQLITE_OK {
				theDisk.adopt(tls, file, libc.GoString(name))
			}
			return code
		})
		held := allocate[sqlite3.Tsqlite3_vfs](tls)
		*at[sqlite3.Tsqlite3_vfs](held) = vfs
		if code := sqlite3.Xsqlite3_vfs_register(tls, held, 0); code != sqlite3.SQLITE_OK {
			panic(fmt.Sprint("register file system: ", code))
		}
	})
	return theDisk
}

// adopt gives an open file the methods that fail.
func (d *failingDisk) adopt(tls *libc.TLS, file uintptr, name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names[file] = strings.TrimPrefix(name, "file:")
	methods := &at[sqlite3.Tsqlite3_file](file).FpMethods
	if *methods == 0 {
		return
	}
	table := tables[*methods]
	if table == 0 {
		table = allocate[sqlite3.Tsqlite3_io_methods](tls)
		*at[sqlite3.Tsqlite3_io_methods](table) = d.table(*at[sqlite3.Tsqlite3_io_methods](*methods))
		tables[*methods] = table
	}
	*methods = table
}

func (d *failingDisk) table(usual sqlite3.Tsqlite3_io_methods) sqlite3.Tsqlite3_io_methods {
	table := usual
	write, read := method[transferMethod](usual.FxWrite), method[transferMethod](usual.FxRead)
	sync, truncate := method[syncMethod](usual.FxSync), method[truncateMethod](usual.FxTruncate)
	table.FxWrite = address(func(tls *libc.TLS, file, buf uintptr, n int32, offset int64) int32 {
		if f, fails := d.fails("write", file); fails {
			if f.short {
				write(tls, file, buf, n/2, offset)
			}
			return f.code
		}
		return write(tls, file, buf, n, offset)
	})
	table.FxRead = address(func(tls *libc.TLS, file, buf uintptr, n int32, offset int64) int32 {
		if f, fails := d.fails("read", file); fails {
			return f.code
		}
		return read(tls, file, buf, n, offset)
	})
	table.FxSync = address(func(tls *libc.TLS, file uintptr, flags int32) int32 {
		if f, fails := d.fails("sync", file); fails {
			return f.code
		}
		return sync(tls, file, flags)
	})
	shared := method[sharedMethod](usual.FxShmMap)
	table.FxShmMap = address(func(tls *libc.TLS, file uintptr, page, size, extend int32, out uintptr) int32 {
		if f, fails := d.fails("share", file); fails {
			return f.code
		}
		return shared(tls, file, page, size, extend, out)
	})
	table.FxTruncate = address(func(tls *libc.TLS, file uintptr, size int64) int32 {
		if f, fails := d.fails("truncate", file); fails {
			return f.code
		}
		return truncate(tls, file, size)
	})
	return table
}
