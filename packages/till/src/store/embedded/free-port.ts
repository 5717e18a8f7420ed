import { createServer } from 'node:net'

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.unref()
    probe.once('error', () => resolve(undefined))
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : undefined))
    })
  })
}

export async function isPortFree(port: number): Promise<boolean> {
  return (await tryPort(port)) !== undefined
}

/** A loopback port that was free recently; the caller tries another if it has gone since. */
export async function freePort(): Promise<number> {
  const port = await tryPort(0)
  if (port === undefined) throw new Error('no free port on 127.0.0.1')
  return port
}
