import { spawn } from 'node:child_process'
import { lstat, mkdir } from 'node:fs/promises'

/** The OS account that PostgreSQL runs as; undefined means our own. */
export type RunUser = { name: string; uid: number; gid: number }

export type ToolResult = { code: number | null; output: string }

/** PG* variables of the caller would silently redirect the server's tools, so they get their own environment. */
export function toolEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: 'C' }
}

export function asUser(user: RunUser | undefined): { uid?: number; gid?: number } {
  return user ? { uid: user.uid, gid: user.gid } : {}
}

/** Runs a program to its end. The working directory is one that every user may enter. */
export function runTool(program: string, args: readonly string[], user?: RunUser): Promise<ToolResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: '/',
      env: toolEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      ...asUser(user),
    })
    let output = ''
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-8_000)
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output: output.trim() }))
  })
}

/** Made if missing. A folder that somebody else put there first, as anyone can in a shared one, is refused. */
export async function ensureOwnFolder(path: string, mode: number): Promise<void> {
  await mkdir(path, { recursive: true, mode })
  const { uid } = await lstat(path)
  if (uid !== process.getuid?.()) throw new Error(`${path} belongs to another user`)
}
