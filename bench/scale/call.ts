import { Agent, request } from 'node:http'

export type Called = { status: number; headers: Record<string, string | string[] | undefined>; body: string }

export type Caller = {
  /** Rejects when the connection broke: the caller cannot know what the server did. */
  get(port: number, path: string, headers?: Record<string, string>): Promise<Called>
  close(): void
}

export function openCaller(connectionsPerProcess: number, timeoutMs = 60_000): Caller {
  const agent = new Agent({ keepAlive: true, maxSockets: connectionsPerProcess })
  return {
    get: (port, path, headers = {}) =>
      new Promise((resolve, reject) => {
        const sent = request({ agent, host: '127.0.0.1', port, path, headers, timeout: timeoutMs }, (response) => {
          const parts: Buffer[] = []
          response.on('data', (part: Buffer) => parts.push(part))
          response.on('error', reject)
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(parts).toString('utf8'),
            }),
          )
        })
        sent.on('timeout', () => sent.destroy(new Error('no answer')))
        sent.on('error', reject)
        sent.end()
      }),
    close: () => agent.destroy(),
  }
}
