package server

import (
	"runtime"

	"google.golang.org/grpc/mem"
)

// responseBuffers is where the buffers of larger answers come from.
var responseBuffers mem.BufferPool = yieldingPool{mem.DefaultBufferPool()}

// yieldingPool is a pool that lets other goroutines go first when it gets a buffer
// back. The writer of a connection gives one back when it has copied the answer and
// before it looks whether there is another to send along. It waits for others by
// itself only while it has less than a kilobyte to write: each answer to a batch
// would be a system call of its own, for the server as for the client.
type yieldingPool struct{ mem.BufferPool }

func (p yieldingPool) Put(buffer *[]byte) {
	p.BufferPool.Put(buffer)
	runtime.Gosched()
}
