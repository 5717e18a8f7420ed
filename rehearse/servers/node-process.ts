import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { readyUrl } from '../../bench/process/ready-url.ts'

export type Env = Record<string, string>

/** The node as an operator runs it. */
export type NodeProcess = {
  port: number
  /** Exit code of a process that ended by itself; a signal gives null. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

const root = join(import.meta.dirname, '..', '..')

export async function startNodeProcess(env: Env, options: { log: string; folder?: string }): Promise<NodeProcess> {
  const folder = options.folder ?? root
  const child = spawn(process.execPath, ['scripts/start.mjs'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C goes to the rehearsal, which ends its processes in order.
    detached: true,
  })
  child.stderr?.pipe(createWriteStream(options.log, { flags: 'a' }))
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    return ended
  }
  try {
    await readyUrl(child)
    return { port: Number(env['PORT']), end }
  } catch (error) {
    await end('SIGKILL')
    throw error
  }
}

/** A command of `assay`, with the environment of the operator. */
export async function runAssay(
  env: Env,
  args: readonly string[],
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [join(root, 'packages', 'cli', 'bin', 'assay.mjs'), ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err] = [[] as Buffer[], [] as Buffer[]]
  child.stdout.on('data', (piece: Buffer) => out.push(piece))
  child.stderr.on('data', (piece: Buffer) => err.push(piece))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, out: Buffer.concat(out).toString('utf8'), err: Buffer.concat(err).toString('utf8') }
}
