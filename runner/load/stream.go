package load

import (
	"fmt"
	"math"
	"strconv"

	"gonogo/runner/record"
)

// stream is the endless sequence of requests. Request i depends on the seed and
// on i alone: every target gets the same sequence, whatever its speed, and a
// worker that sends every n-th of them needs no state of the others.
type stream struct {
	seed      uint64
	ids       uint64
	templates []*template
	upTo      []uint64 // running sum of weights
}

func newStream(spec *record.LoadSpec) (*stream, error) {
	if len(spec.Requests) == 0 {
		return nil, fmt.Errorf("no requests to send")
	}
	if spec.IDs < 0 || spec.IDs > math.MaxUint32 {
		return nil, fmt.Errorf("ids 1..%d: want at most 32 bits", spec.IDs)
	}
	s := &stream{seed: spec.Seed, ids: uint64(spec.IDs)}
	var sum uint64
	for _, r := range spec.Requests {
		t, err := newTemplate(r, spec.Host)
		if err != nil {
			return nil, err
		}
		if t.usesID && s.ids == 0 {
			return nil, fmt.Errorf("request %s %s: {id} without a range of ids", r.Method, r.Path)
		}
		sum += uint64(max(r.Weight, 1))
		s.templates, s.upTo = append(s.templates, t), append(s.upTo, sum)
	}
	return s, nil
}

// at returns request i and its id, 0 when it has none.
func (s *stream) at(i uint64) (*template, uint64) {
	word := mix(s.seed, i)
	t := s.templates[0]
	if len(s.templates) > 1 {
		share := scale(uint32(word), s.upTo[len(s.upTo)-1])
		k := 0
		for share >= s.upTo[k] {
			k++
		}
		t = s.templates[k]
	}
	if !t.usesID {
		return t, 0
	}
	return t, 1 + scale(uint32(word>>32), s.ids)
}

// scale maps 32 random bits onto 0..n-1 (Lemire's multiplication; the bias is
// below n / 2^32).
func scale(bits uint32, n uint64) uint64 { return uint64(bits) * n >> 32 }

// mix is splitmix64 at position i of the stream that seed begins
// (Steele, Lea, Flood, OOPSLA 2014): random access, no state.
func mix(seed, i uint64) uint64 {
	z := seed + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// appendID writes an id in decimal; 0 means that there is none.
func appendID(dst []byte, id uint64) []byte {
	if id == 0 {
		return dst
	}
	return strconv.AppendUint(dst, id, 10)
}
