import { lookup } from 'node:dns/promises'
import net, { isIPv6 } from 'node:net'
import { getSystemErrorName } from 'node:util'
import type { SocketHandle } from '../../http/index.ts'

type Bound = SocketHandle & { getsockname(into: { port?: number }): number }

/** What the runtime binds listening sockets with, for its own servers too. */
const { _createServerHandle: createHandle } = net as unknown as {
  _createServerHandle(address: string, port: number, family: 4 | 6): Bound | number
}

/**
 * A bound socket that takes no connections itself: it is sent to workers, who listen on it. As long as this process has it,
 * callers who connect while a worker is replaced wait in the queue of the system for the next one.
 */
export async function bindSocket(host: string, port: number): Promise<{ handle: SocketHandle; port: number }> {
  const { address } = await lookup(host)
  const handle = createHandle(address, port, isIPv6(address) ? 6 : 4)
  if (typeof handle === 'number') throw bindError(handle, port)
  const name: { port?: number } = {}
  // A taken port is reported here and not by the bind.
  const failed = handle.getsockname(name)
  if (failed !== 0) {
    handle.close()
    throw bindError(failed, port)
  }
  return { handle, port: name.port ?? port }
}

function bindError(errno: number, port: number): Error {
  const code = getSystemErrorName(errno)
  return Object.assign(new Error(`listen ${code} on port ${port}`), { code, port })
}
