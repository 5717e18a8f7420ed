import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { silentLog } from '@assay/till/kernel/log'
import { expect, test } from 'vitest'
import { testApp } from '../../http/http-app.fixture.ts'
import { openListener, type SocketHandle } from '../../http/index.ts'
import { bindSocket } from './bind-socket.ts'

const returner = fileURLToPath(new URL('../../http/return-handles.mjs', import.meta.url))

/** Descriptors as a worker gets them: through another process. */
async function descriptorsOf(handle: SocketHandle, count: number): Promise<SocketHandle[]> {
  const child = fork(returner, { execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  const back = new Promise<SocketHandle[]>((resolve) => {
    const given: SocketHandle[] = []
    child.on('message', (_message, one) => {
      given.push(one as unknown as SocketHandle)
      if (given.length === count) resolve(given)
    })
  })
  for (let sent = 0; sent < count; sent += 1) child.send('', handle as never)
  return back.finally(() => child.disconnect())
}

test('a caller who comes while a worker is replaced is answered by the next one', async () => {
  const { handle, port } = await bindSocket('127.0.0.1', 0)
  const [first, ...next] = (await descriptorsOf(handle, 3)) as [SocketHandle, SocketHandle, SocketHandle]
  const worker = async (handles: readonly SocketHandle[]) => {
    const listener = await openListener({ port, host: '127.0.0.1', log: silentLog, handles })
    const app = testApp({ config: { baseUrl: listener.url, apiUrl: listener.url } as never })
    return { listener, serve: () => listener.serve(app) }
  }
  const before = await worker([first])
  // A worker that cannot answer yet takes nobody away from those who can.
  await expect(fetch(`http://127.0.0.1:${port}/v1/nothing`)).rejects.toThrow()
  await before.serve()
  expect((await fetch(`http://127.0.0.1:${port}/v1/nothing`)).status).toBe(404)
  await before.listener.drain()
  const meanwhile = fetch(`http://127.0.0.1:${port}/v1/nothing`)
  const after = await worker(next)
  await after.serve()
  expect((await meanwhile).status).toBe(404)
  await after.listener.drain()
  handle.close()
})

test('a taken port is refused by its code', async () => {
  const listener = await openListener({ port: 0, host: '127.0.0.1', log: silentLog })
  await expect(bindSocket('127.0.0.1', listener.port)).rejects.toMatchObject({
    code: 'EADDRINUSE',
    port: listener.port,
  })
  await listener.drain()
})
