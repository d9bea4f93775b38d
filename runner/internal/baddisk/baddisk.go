// Package baddisk puts a fault into the calls of package disk, for tests: the k-th
// call fails, or the process ends at it. To go through every k until a whole job
// meets none is to have tried a fault at every write that the job makes.
package baddisk

import (
	"io/fs"
	"os"
	"sync"
	"syscall"

	"gonogo/runner/disk"
)

// Kind is what happens at a call.
type Kind string

const (
	Fails Kind = "fails" // it does nothing and fails: ENOSPC where something new is written, EIO elsewhere
	Short Kind = "short" // a write leaves half of its bytes and fails; other calls fail
	Late  Kind = "late"  // it does its work and says that it failed
	Gone  Kind = "gone"  // it and all calls after it fail: the disk is gone
	Dies  Kind = "dies"  // the process ends before it
	Torn  Kind = "torn"  // the process ends in it, half of a write done, or just after it
)

// Errors are the kinds after which the process lives on.
var Errors = []Kind{Fails, Short, Late, Gone}

// Deaths are the kinds that end it.
var Deaths = []Kind{Dies, Torn}

// Fault is a planted fault. Only one can be planted at a time.
type Fault struct {
	mu   sync.Mutex
	at   int
	kind Kind
	die  func()
	n    int
	call string
	lift func()
}

// Plant lets the fault happen at call number at, from 1. die has to end the process,
// or whatever stands for it: it must not return.
func Plant(at int, kind Kind, die func()) *Fault {
	f := &Fault{at: at, kind: kind, die: die}
	open, write, sync, shut := disk.OpenFile, disk.Write, disk.Sync, disk.Close
	mkdir, rename, remove, removeAll := disk.Mkdir, disk.Rename, disk.Remove, disk.RemoveAll
	f.lift = func() {
		disk.OpenFile, disk.Write, disk.Sync, disk.Close = open, write, sync, shut
		disk.Mkdir, disk.Rename, disk.Remove, disk.RemoveAll = mkdir, rename, remove, removeAll
	}
	disk.OpenFile = func(name string, flag int, perm fs.FileMode) (file *os.File, err error) {
		err = f.path("open", name, syscall.ENOSPC, func() error { file, err = open(name, flag, perm); return err })
		if err != nil && file != nil { // late
			shut(file)
			file = nil
		}
		return file, err
	}
	disk.Write = func(file *os.File, b []byte) (n int, err error) {
		some := b
		if f.tears() {
			some = b[:len(b)/2]
		}
		err = f.path("write", file.Name(), syscall.ENOSPC, func() error { n, err = write(file, some); return err })
		return n, err
	}
	disk.Sync = func(file *os.File) error {
		return f.path("sync", file.Name(), syscall.EIO, func() error { return sync(file) })
	}
	disk.Close = func(file *os.File) error {
		err := f.path("close", file.Name(), syscall.EIO, func() error { return shut(file) })
		shut(file) // a close that fails has closed all the same
		return err
	}
	disk.Mkdir = func(name string, perm fs.FileMode) error {
		return f.path("mkdir", name, syscall.ENOSPC, func() error { return mkdir(name, perm) })
	}
	disk.Rename = func(from, to string) error {
		if err := f.do("rename "+to, syscall.EIO, func() error { return rename(from, to) }); err == syscall.EIO {
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
		} else {
			return err
		}
	}
	disk.Remove = func(name string) error {
		return f.path("remove", name, syscall.EIO, func() error { return remove(name) })
	}
	disk.RemoveAll = func(name string) error {
		return f.path("unlinkat", name, syscall.EIO, func() error { return removeAll(name) })
	}
	return f
}

// Lift puts the calls back, and tells which call the fault met; "" if the job made
// fewer calls.
func (f *Fault) Lift() (call string) {
	f.lift()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.call
}

// Calls is how many calls were made so far.
func (f *Fault) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// path is do with the error that package os gives.
func (f *Fault) path(op, name string, fault syscall.Errno, call func() error) error {
	if err := f.do(op+" "+name, fault, call); err != fault {
		return err
	}
	return &os.PathError{Op: op, Path: name, Err: fault}
}

// do makes a call, or the fault in its place: then the error is fault itself.
func (f *Fault) do(name string, fault syscall.Errno, call func() error) error {
	if !f.due(name) {
		return call()
	}
	switch f.kind {
	case Dies:
		f.die()
	case Torn:
		call()
		f.die()
	case Short, Late:
		if f.kind == Late || f.tearing(name) {
			call()
		}
	}
	return fault
}

// due counts a call.
func (f *Fault) due(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	if f.n == f.at {
		f.call = name
	}
	return f.n == f.at || f.kind == Gone && f.n > f.at
}

// tears tells whether the next call is a write that leaves half of its bytes.
func (f *Fault) tears() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n+1 == f.at && (f.kind == Short || f.kind == Torn)
}

func (f *Fault) tearing(name string) bool { return len(name) > 6 && name[:6] == "write " }
