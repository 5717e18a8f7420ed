import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where the command line finds the node of a data folder: its address, and the process that listens there. */
export const runningFile = 'running.json'

/** Writes the file that names a running node; returns a function that removes it. */
export async function writeRunningFile(home: string, url: string): Promise<() => Promise<void>> {
  const path = join(home, runningFile)
  await writeFile(path, `${JSON.stringify({ url, pid: process.pid })}\n`, { mode: 0o600 })
  return () => rm(path, { force: true })
}
