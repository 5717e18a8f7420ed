import { startTestServer, type TestServer, testServerVariable } from '../../packages/till/src/store/testing.ts'

let server: TestServer | undefined

/** One PostgreSQL server for the whole run; each test file gets a database of its own in it. */
export async function setup(): Promise<void> {
  server = await startTestServer()
  process.env[testServerVariable] = server.url
}

export async function teardown(): Promise<void> {
  delete process.env[testServerVariable]
  await server?.stop()
}
