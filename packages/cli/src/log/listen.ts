import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Where the server listens, once it does. */
export async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const name = host.includes(':') ? `[${host}]` : host
  return `http://${name}:${(server.address() as AddressInfo).port}`
}
