import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '@assay/till/kernel/clock'
import { type Locate, type Outbound, openBrowserProxy } from '../../../outbound/index.ts'

/** The document of a page after its scripts have run, or why there is none, in words. */
export type RenderPage = (url: string) => Promise<{ html: string } | { problem: string }>

export type RenderOptions = {
  clock: Clock
  outbound: Outbound & { locate: Locate }
  /** Path of a Chromium. */
  program: string
  userAgent: string
  /** A node that runs as root has no sandbox to give: only tests do without. */
  withoutSandbox?: boolean
  limits?: Partial<RenderLimits>
}

type RenderLimits = { ms: number; answerBytesMax: number; bytesMax: number; requestsMax: number }

const defaultLimits: RenderLimits = {
  ms: 20_000,
  answerBytesMax: 5 * 1024 * 1024,
  bytesMax: 20 * 1024 * 1024,
  requestsMax: 200,
}

/** One page at a time, each in its own browser with an empty profile, which is killed when it takes too long. */
export function createRenderer(options: RenderOptions): RenderPage {
  let turn: Promise<unknown> = Promise.resolve()
  return (url) => {
    const result = turn.then(() => render(options, url))
    turn = result.catch(() => {})
    return result
  }
}

async function render(options: RenderOptions, url: string): Promise<{ html: string } | { problem: string }> {
  const limits = { ...defaultLimits, ...options.limits }
  const profile = await mkdtemp(join(tmpdir(), 'assay-render-'))
  const proxy = await openBrowserProxy(options.outbound, { ...limits, totalMs: limits.ms })
  try {
    return await dumpPage(options, limits, [...flagsOf(options, proxy.address, profile), url])
  } finally {
    await proxy.close()
    await rm(profile, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  }
}

/** Nothing leaves but through the proxy: no name is resolved, loopback included, and no other protocol is spoken. */
const flagsOf = ({ userAgent, withoutSandbox }: RenderOptions, proxy: string, profile: string): string[] => [
  '--headless',
  '--dump-dom',
  '--virtual-time-budget=8000',
  `--proxy-server=${proxy}`,
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--disable-quic',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-extensions',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--mute-audio',
  '--blink-settings=imagesEnabled=false',
  `--user-agent=${userAgent}`,
  `--user-data-dir=${profile}`,
  ...(withoutSandbox ? ['--no-sandbox'] : []),
]

function dumpPage(
  { clock, program }: RenderOptions,
  limits: RenderLimits,
  flags: readonly string[],
): Promise<{ html: string } | { problem: string }> {
  return new Promise((resolve) => {
    // Its own group, so that all of its processes end with it; nothing of the environment goes along.
    const child = spawn(program, flags, { env: {}, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
    const over = new AbortController()
    const pieces: Buffer[] = []
    let size = 0
    let problem: string | undefined
    const kill = (why: string) => {
      problem ??= why
      if (child.pid === undefined) return
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {
        // It has ended by itself.
      }
    }
    clock.sleep(limits.ms, over.signal).then(
      () => kill(`the page took longer than ${limits.ms / 1_000} s to render`),
      () => {},
    )
    child.stdout.on('data', (piece: Buffer) => {
      size += piece.length
      if (size > limits.answerBytesMax) kill('the rendered page is too large')
      else pieces.push(piece)
    })
    child.on('error', () => {
      problem ??= 'the browser could not be started'
    })
    child.on('close', (code) => {
      over.abort(new Error('the browser ended'))
      const failed = problem ?? (code === 0 ? undefined : 'the browser failed')
      kill('it has ended')
      resolve(failed === undefined ? { html: Buffer.concat(pieces).toString('utf8') } : { problem: failed })
    })
  })
}
