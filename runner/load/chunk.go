package load

import "errors"

// Places in a chunked body (RFC 9112, section 7.1). Lines end in CR LF: a bare
// one of the two is how one server's idea of a body is smuggled past another.
const (
	inSize    = iota // hex digits
	inPad            // blanks behind them
	inExt            // chunk extension, skipped
	inSizeEnd        // LF of a size line
	inData           //
	inDataCR         // CR after the data
	inDataLF         //
	inTrailer        // start of a trailer line
	inName           // in its name
	inValue          // in its value, skipped
	inLineEnd        // its LF
	inEnd            // LF of the last, empty line
)

// maxSkipped bounds extensions and trailers of a reply.
const maxSkipped = 16 << 10

var (
	errChunk     = errors.New("chunked body is malformed")
	errChunkRest = errors.New("bytes after the end of a chunked reply")
)

type chunkState struct {
	place   int
	left    int64 // bytes left in the chunk
	digits  int   // hex digits of the size so far
	skipped int
}

// feedChunks decodes in place: payload moves down to the end of what is kept.
func (r *reader) feedChunks(b []byte) (bool, *fault) {
	c := &r.chunk
	for len(b) > 0 {
		if c.place == inData {
			n := min(int64(len(b)), c.left)
			r.keep(b[:n])
			b = b[n:]
			if c.left -= n; c.left == 0 {
				c.place = inDataCR
			}
			continue
		}
		last := c.place == inEnd
		if !c.step(b[0]) {
			return false, malformed(errChunk)
		}
		b = b[1:]
		if last {
			if len(b) > 0 {
				return false, malformed(errChunkRest)
			}
			return true, nil
		}
	}
	return false, nil
}

// step takes one byte outside the data; false means that it cannot stand there.
func (c *chunkState) step(x byte) bool {
	switch c.place {
	case inSize:
		return c.size(x)
	case inPad:
		return c.until('\r', inSizeEnd, x, x == ' ' || x == '\t')
	case inExt:
		return c.until('\r', inSizeEnd, x, x != '\n')
	case inSizeEnd:
		c.place, c.digits = inData, 0
		if c.left == 0 {
			c.place = inTrailer
		}
		return x == '\n'
	case inDataCR:
		return c.until('\r', inDataLF, x, false)
	case inDataLF:
		return c.until('\n', inSize, x, false)
	case inTrailer:
		c.place = inName
		return c.until('\r', inEnd, x, isToken[x])
	case inName:
		return c.until(':', inValue, x, isToken[x])
	case inValue:
		return c.until('\r', inLineEnd, x, x == '\t' || x >= ' ' && x != 0x7f)
	case inLineEnd:
		return c.until('\n', inTrailer, x, false)
	default: // inEnd
		return x == '\n'
	}
}

// until goes on to the next place at its byte, and skips what may stand before it.
func (c *chunkState) until(end byte, next int, x byte, allowed bool) bool {
	if x == end {
		c.place = next
		return true
	}
	c.skipped++
	return allowed && c.skipped <= maxSkipped
}

// size takes a byte of the line that begins a chunk.
func (c *chunkState) size(x byte) bool {
	d := int64(-1)
	switch {
	case x >= '0' && x <= '9':
		d = int64(x - '0')
	case x >= 'a' && x <= 'f':
		d = int64(x-'a') + 10
	case x >= 'A' && x <= 'F':
		d = int64(x-'A') + 10
	}
	switch {
	case d >= 0:
		c.left, c.digits = c.left<<4|d, c.digits+1
		return c.digits <= 12
	case c.digits == 0:
		return false
	case x == '\r':
		c.place = inSizeEnd
	case x == ';':
		c.place = inExt
	case x == ' ' || x == '\t':
		c.place = inPad
	default:
		return false
	}
	return true
}
