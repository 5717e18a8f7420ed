import type { IncomingMessage } from 'node:http'
import { join, resolve } from 'node:path'
import {
  checkLog,
  createMonitorHttp,
  defaultMonitorOptions,
  emptyState,
  folderName,
  type LogState,
  type MonitorDeps,
  openFolderStore,
  serveMonitor,
  verdictOf,
  watchLog,
} from '@assay/node/log-monitor'
import type { CommandContext } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { toJson } from '../output.ts'
import type { Terminal } from '../terminal.ts'
import { logPrefix, type MonitorFlags, monitorOptions, number, parseListen } from './monitor-options.ts'
import { type Answer, serve } from './serve.ts'
import { systemClock } from './system-clock.ts'

type WatchedLog = { url: string; deps: MonitorDeps; store: ReturnType<typeof openFolderStore>; state: LogState }

export async function runMonitor(context: CommandContext, urls: readonly string[], flags: MonitorFlags): Promise<void> {
  const intervalMs = Math.max(1, number('--interval', flags.interval)) * 1000
  const place = flags.serve === undefined ? undefined : parseListen(flags.serve)
  const logs = await openLogs(urls, flags)
  if (flags.once) return checkOnce(context, logs, flags.json)
  const server = place && (await serve(place, (request) => answerStatus(logs, flags.mirror !== undefined, request)))
  if (server) context.terminal.out(`ready ${server.url}`)
  try {
    await context.terminal.untilInterrupted(async (signal) => {
      const report = reporter(context.terminal, flags.json)
      await Promise.all(
        logs.map((log) =>
          watchLog(log.deps, log.url, intervalMs, signal, (state) => {
            log.state = state
            report(state)
          }),
        ),
      )
    })
  } finally {
    await server?.close()
  }
}

const onlyRead: Answer = {
  status: 405,
  contentType: 'text/plain; charset=utf-8',
  body: 'GET or HEAD\n',
  headers: { allow: 'GET, HEAD' },
}

/** What the monitor has on disk and in memory. */
async function answerStatus(logs: readonly WatchedLog[], mirror: boolean, { method, url = '/' }: IncomingMessage) {
  if (method !== 'GET' && method !== 'HEAD') return onlyRead
  return serveMonitor(url.split('?')[0] ?? '/', logs, { nowMs: Date.now(), mirror })
}

async function openLogs(urls: readonly string[], flags: MonitorFlags): Promise<WatchedLog[]> {
  const options = monitorOptions(flags, defaultMonitorOptions)
  const http = createMonitorHttp('AssayMonitor/1.0')
  return Promise.all(
    urls.map(async (text) => {
      const url = logPrefix('<url>', text)
      const name = folderName(url)
      const folder = resolve(flags.state, name)
      const store = openFolderStore(folder, flags.mirror === undefined ? folder : join(flags.mirror, name))
      const state = (await store.readState()) ?? emptyState(url)
      return { url, store, state, deps: { http, clock: systemClock, store, options } }
    }),
  )
}

async function checkOnce({ terminal, endWith }: CommandContext, logs: readonly WatchedLog[], json = false) {
  const states: LogState[] = []
  for (const { deps, url } of logs) states.push(await checkLog(deps, url))
  const verdicts = states.map(verdictOf)
  terminal.out(
    json
      ? toJson({ logs: states.map((state) => ({ verdict: verdictOf(state), ...state })) })
      : states.map(text).join('\n'),
  )
  if (verdicts.includes('alarm')) endWith(exitCodes.notVerified)
  else if (verdicts.includes('warning')) endWith(exitCodes.failed)
}

function text(state: LogState): string {
  const { origin, url, head, audited, findings } = state
  const summary = `${verdictOf(state).padEnd(7)} ${origin ?? url}  size ${head?.size ?? '-'}, ${audited} leaves verified`
  return [summary, ...findings.map(({ severity, kind, detail }) => `  ${severity} ${kind}: ${detail}`)].join('\n')
}

/** Says what changed: growth on standard error, each finding once on standard output. */
function reporter(terminal: Terminal, json = false): (state: LogState) => void {
  const said = new Map<string, string>()
  return (state) => {
    const current = JSON.stringify(state.findings)
    if (said.get(state.url) !== current)
      terminal.out(json ? JSON.stringify({ url: state.url, findings: state.findings }) : text(state))
    else terminal.status(text(state))
    said.set(state.url, current)
  }
}
