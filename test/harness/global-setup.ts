import { rmSync } from 'node:fs'
import { newProgramsFolder, programsVariable } from '../../packages/till/src/kernel/join-program.fixture.ts'
import { startTestServer, type TestServer, testServerVariable } from '../../packages/till/src/store/testing.ts'

let server: TestServer | undefined
let programs: string | undefined

/** One PostgreSQL server for the whole run, each test file gets its own database in it; and a place for built programs. */
export async function setup(): Promise<void> {
  server = await startTestServer()
  programs = newProgramsFolder()
  process.env[testServerVariable] = server.url
  process.env[programsVariable] = programs
}

export async function teardown(): Promise<void> {
  delete process.env[testServerVariable]
  delete process.env[programsVariable]
  if (programs !== undefined) rmSync(programs, { recursive: true, force: true })
  await server?.stop()
}
