package recount

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"gonogo/runner/record"
)

// The histogram format, from the specification beside HdrHistogram's Java source
// (EncodableHistogram, V2): base64 of {cookie, length} and a zlib stream of a
// 40-byte header and counts, each a ZigZag LEB128 of at most 9 bytes; a negative
// count stands for so many zeros.
const (
	outerCookie = 0x1c849304 | 0x10 // word size 1: LEB128
	innerCookie = 0x1c849303 | 0x10
	headBytes   = 40
	halfBuckets = 1024 // 3 digits: 2048 buckets, of which every octave but the first uses the upper half
	mostBuckets = 33 * halfBuckets
	mostBytes   = headBytes + 9*mostBuckets
)

// bucket holds the values low..high, to 0.1 %.
type bucket struct {
	high  int64 // largest value that counts as this one
	count uint64
}

// buckets decodes those that are not empty, in ascending order.
func buckets(text string) ([]bucket, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("read histogram: %w", err)
	}
	if len(raw) < 8 || binary.BigEndian.Uint32(raw) != outerCookie || int64(binary.BigEndian.Uint32(raw[4:])) != int64(len(raw)-8) {
		return nil, errors.New("read histogram: no V2 compressed header, or of another length")
	}
	z, err := zlib.NewReader(bytes.NewReader(raw[8:]))
	if err != nil {
		return nil, fmt.Errorf("read histogram: %w", err)
	}
	body, err := io.ReadAll(io.LimitReader(z, mostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read histogram: %w", err)
	}
	if len(body) < headBytes || len(body) > mostBytes || binary.BigEndian.Uint32(body) != innerCookie ||
		int64(binary.BigEndian.Uint32(body[4:])) != int64(len(body)-headBytes) {
		return nil, errors.New("read histogram: no V2 header, or of another length")
	}
	if binary.BigEndian.Uint32(body[12:]) != 3 || binary.BigEndian.Uint64(body[16:]) != 1 {
		return nil, errors.New("read histogram: not of 3 digits from 1 ns")
	}
	return counts(body[headBytes:])
}

func counts(b []byte) ([]bucket, error) {
	var all []bucket
	index := 0
	for len(b) > 0 {
		v, n := zigzag(b)
		if n == 0 {
			return nil, errors.New("read histogram: cut within a count")
		}
		b = b[n:]
		if v < 0 {
			index += int(min(-v, mostBuckets))
			continue
		}
		if index >= mostBuckets {
			return nil, errors.New("read histogram: counts beyond an hour")
		}
		if v > 0 {
			all = append(all, bucket{high(index), uint64(v)})
		}
		index++
	}
	return all, nil
}

// zigzag reads one number; the ninth byte has eight bits of it. It tells 0 bytes
// for a number that is cut.
func zigzag(b []byte) (int64, int) {
	var u uint64
	for i := 0; i < len(b) && i < 9; i++ {
		if i == 8 {
			u |= uint64(b[i]) << 56
			return int64(u>>1) ^ -int64(u&1), 9
		}
		u |= uint64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return int64(u>>1) ^ -int64(u&1), i + 1
		}
	}
	return 0, 0
}

// high is the largest value of a bucket: the first 2048 are 1 ns wide, the next
// 1024 are 2 ns wide, then 4, and so on.
func high(index int) int64 {
	if index < 2*halfBuckets {
		return int64(index)
	}
	octave := index/halfBuckets - 1
	sub := int64(index%halfBuckets + halfBuckets)
	return (sub+1)<<octave - 1
}

// distribution is a histogram as it is archived, decoded here.
type distribution struct {
	buckets  []bucket
	n        uint64
	min, max int64
}

func read(h *record.Histogram) (distribution, error) {
	b, err := buckets(h.V2)
	if err != nil {
		return distribution{}, err
	}
	d := distribution{buckets: b, min: int64(h.Min), max: int64(h.Max)}
	for _, x := range b {
		d.n += x.count
	}
	if d.n != h.Count {
		return d, fmt.Errorf("read histogram: it holds %d values, the record says %d", d.n, h.Count)
	}
	return d, nil
}

// quantile is the value of nearest rank ceil(permille/1000 x n), in whole numbers:
// the smallest that so many of the values do not exceed. The ends are exact.
func (d distribution) quantile(permille uint64) int64 {
	rank := (permille*d.n + 999) / 1000
	switch {
	case rank >= d.n:
		return d.max
	case rank <= 1:
		return d.min
	}
	var seen uint64
	for _, b := range d.buckets {
		if seen += b.count; seen >= rank {
			return min(max(b.high, d.min), d.max)
		}
	}
	return d.max
}
