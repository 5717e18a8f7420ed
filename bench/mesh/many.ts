// npx tsx bench/mesh/many.ts [processes]: as many nodes as asked (50), each a process, and a tenth as many hostile peers that
// lie about prices, name thousands that do not exist, hang, or lead inside. Exit code 1 when the honest do not all know each
// other within 30 s, when two that are killed are not dropped within 10 s, when a hostile peer changes an honest answer, or
// when a search takes more than 3 s with a fifth of the peers hanging.
import { fork } from 'node:child_process'
import http from 'node:http'
import { join } from 'node:path'
import {
  listingOf,
  type PlayedPeer,
  playPeer,
  reportOf,
} from '../../packages/protocol/src/mesh/hostile-peer.fixture.ts'
import { type Discovery, discover } from '../../packages/sdk/src/index.ts'
import { joinProgram } from '../../packages/till/src/kernel/join-program.fixture.ts'
import { onLoopback } from '../../packages/till/src/kernel/on-loopback.fixture.ts'
import { startTestServer, testServerVariable } from '../../packages/till/src/store/testing.ts'
import { openDatabaseCpu, treeCpuMicros } from '../process/database-cpu.ts'
import { closeOnSignal } from '../process/on-signal.ts'
import { reportFigures } from '../report-figures.ts'
import { type Chain, createMember, type Member, type Usage } from './member.ts'
import { freeAddress } from './wire.ts'

const size = Number(process.argv[2] ?? 50)
const capability = 'sandbox.echo'
const startedTogether = 2
/**
 * Two visits in three seconds for each node, however many there are; others tell who is gone. Prices are checked
 * as often as in production, and once at the beginning.
 */
const mesh = { visit_ms: 3_000, announce_ms: 3_000, price_check_ms: 600_000, visits_per_minute: 40 }
/** A node keeps so many open at most. */
const connectionsEach = 12
const giveUpMs = 120_000

type Hostile = { peer: PlayedPeer; close(): Promise<void> }

/** A hostile peer on this machine; it states a price far below all others. */
async function openHostile(place: number): Promise<Hostile> {
  const state: { peer?: PlayedPeer } = {}
  const server = http.createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const { peer } = state
    if (peer === undefined) return void outgoing.destroy()
    const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }
    const request = new Request(`${peer.address}${incoming.url}`, { method: incoming.method ?? 'GET', ...body })
    const answer = await peer.respond(request)
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers))
    outgoing.end(Buffer.from(await answer.arrayBuffer()))
  })
  const { url, close } = await onLoopback(server)
  const offer = reportOf('1', { capability, path: '/v1/sandbox/echo', example: '/v1/sandbox/echo' })
  const peer = playPeer(url, { offers: [offer] })
  state.peer = peer
  if (place % 2 === 0) peer.asksMicro = () => '900000'
  else peer.lie = (_request, path) => (path.startsWith('/v1/') ? new Promise<Response>(() => {}) : undefined)
  peer.listed = Array.from({ length: 200 }, (_, i) => ({
    ...listingOf(peer),
    ...{ did: `did:web:ghost${place}x${i}.example`, address: `https://ghost${place}x${i}.example` },
  }))
  return { peer, close }
}

async function peersOf(member: Member): Promise<string[]> {
  const names: string[] = []
  for (let url: string | null = `${member.direct()}/x402/mesh?view=brief`; url !== null; ) {
    const answer = (await (await fetch(url)).json()) as { peers: { address: string }[]; next_page: string | null }
    names.push(...answer.peers.map((peer) => peer.address))
    url = answer.next_page === null ? null : answer.next_page.replace(member.origin, member.direct() ?? '')
  }
  return names
}

/** A search that gets no answer has found nothing; the reason is printed. */
const search = ({ origin }: Member): Promise<Pick<Discovery, 'best' | 'found'>> =>
  discover(capability, { nodes: [origin] }).catch((error: unknown) => {
    process.stdout.write(`  ${error}\n`)
    return { best: undefined, found: [] }
  })

async function secondsUntil(done: () => Promise<boolean>): Promise<number> {
  const startedMs = performance.now()
  while (!(await done().catch(() => false)) && performance.now() - startedMs < giveUpMs)
    await new Promise((resolve) => setTimeout(resolve, 250))
  return (performance.now() - startedMs) / 1000
}

const rows: { figure: string; asked: string; measured: string; reached: boolean }[] = []
function row(figure: string, asked: string, measured: string, reached: boolean): void {
  rows.push({ figure, asked, measured, reached })
  process.stdout.write(`${figure.padEnd(60)} ${measured.padStart(10)}  asked ${asked}\n`)
}

const usageSeconds = 20

const readUsage = async () => ({
  nodes: await Promise.all(members.map((member) => member.usage())),
  databaseMicros: databaseCpu.micros(),
  chainMicros: treeCpuMicros(chainProcess.pid ?? 0),
})

/** CPU seconds of all together. On a machine that does other work they say more than the time that passes. */
function printCpu(what: string, now: Awaited<ReturnType<typeof readUsage>>, before = { nodes: 0, databases: 0 }) {
  const nodes = now.nodes.reduce((total, { cpuMicros }) => total + cpuMicros, 0)
  const used = { nodes, databases: now.databaseMicros }
  const seconds = (micros: number) => (micros / 1e6).toFixed(1)
  process.stdout.write(
    `${what}: ${seconds(used.nodes - before.nodes)} s of CPU of all nodes, ${seconds(used.databases - before.databases)} s of their databases\n`,
  )
  return used
}

/** What a node takes while nothing changes. */
async function printUsage(): Promise<void> {
  const before = await readUsage()
  await new Promise((resolve) => setTimeout(resolve, usageSeconds * 1_000))
  const after = await readUsage()
  const mean = (of: (usage: Usage) => number) => {
    const sum = (usages: readonly Usage[]) => usages.reduce((total, usage) => total + of(usage), 0)
    return (sum(after.nodes) - sum(before.nodes)) / size
  }
  const share = (micros: number) => `${(micros / usageSeconds / 10_000).toFixed(1)} %`
  const rss = after.nodes.reduce((total, { rssBytes }) => total + rssBytes, 0) / size
  const kilobytes = (mean(({ trafficBytes }) => trafficBytes) * 60) / usageSeconds / 1_000
  process.stdout.write(
    [
      `a node, over ${usageSeconds} s: ${share(mean(({ cpuMicros }) => cpuMicros))} of a core, ${(rss / 1e6).toFixed(0)} MB, ${kilobytes.toFixed(0)} kB a minute sent and received`,
      `all databases: ${share(after.databaseMicros - before.databaseMicros)} of a core; both chains: ${share(after.chainMicros - before.chainMicros)}`,
      '',
    ].join('\n'),
  )
}

const chainProcess = fork(await joinProgram(join(import.meta.dirname, 'chains-child.ts')), { execArgv: [] })
const chains = await new Promise<[Chain, Chain]>((resolve, reject) => {
  chainProcess.once('message', (sent) => resolve(sent as [Chain, Chain]))
  chainProcess.once('exit', (code) => reject(new Error(`the chains ended with ${code} before they were ready`)))
})
const server = await startTestServer({ connections: size * connectionsEach + 100 })
process.env[testServerVariable] = server.url
const databaseCpu = await openDatabaseCpu(server.url)
const members: Member[] = []
const hostile: Hostile[] = []
const close = async () => {
  await Promise.all(members.map((member) => member.close()))
  await databaseCpu.close()
  await Promise.all([...hostile.map((one) => one.close()), server.stop()])
  if (chainProcess.connected) chainProcess.disconnect()
}
closeOnSignal(close)
try {
  for (let place = 0; place < Math.ceil(size / 10); place += 1) hostile.push(await openHostile(place))
  const bad = hostile.map(({ peer }) => peer.address)
  for (let place = 0; place < size; place += 1) {
    const known = [members.at(-1)?.origin ?? '', bad[place % bad.length] ?? ''].filter((origin) => origin !== '')
    members.push(await createMember(await freeAddress(), chains, known.join(','), mesh))
  }
  const made = { nodes: 0, databases: databaseCpu.micros() }
  for (let from = 0; from < size; from += startedTogether)
    await Promise.all(members.slice(from, from + startedTogether).map((member) => member.start()))
  process.stdout.write(`${size} nodes are up, and ${bad.length} hostile peers\n`)
  const started = printCpu('until all are up', await readUsage(), made)
  const knows = async (member: Member, others: readonly Member[], gone: readonly Member[] = []) => {
    const names = new Set(await peersOf(member))
    return (
      others.every((other) => other === member || names.has(other.origin)) &&
      gone.every((one) => !names.has(one.origin))
    )
  }
  // Anyone who was seen to know is not asked again: fifty answers one after the other take seconds, and CPU of the nodes.
  const untilAllKnow = (others: readonly Member[], gone: readonly Member[] = []) => {
    const waiting = new Set(others)
    return secondsUntil(async () => {
      for (const member of waiting) {
        if (!(await knows(member, others, gone))) return false
        waiting.delete(member)
      }
      return true
    })
  }
  const joined = await untilAllKnow(members)
  row(`${size} nodes know each other after the last one started`, '30 s', `${joined.toFixed(1)} s`, joined <= 30)
  printCpu('from then until they know each other', await readUsage(), started)
  await printUsage()
  const gone = members.slice(0, 2)
  const left = members.slice(2)
  await Promise.all(gone.map((member) => member.signal('SIGKILL')))
  const dropped = await untilAllKnow(left, gone)
  row('two killed: dropped by all others', '10 s', `${dropped.toFixed(1)} s`, dropped <= 10)
  let wrong = 0
  for (const member of left.slice(0, 20)) {
    const { best, found } = await search(member)
    if (best === undefined || found.some(({ address }) => bad.includes(address))) wrong += 1
  }
  row('honest answers that a hostile peer changed', '0', `${wrong}`, wrong === 0)
  // They are listed until they have missed two visits.
  const stopped = left.slice(-Math.ceil(size / 5))
  const running = left.slice(0, -stopped.length)
  const hanging = new Set(stopped.map(({ origin }) => origin))
  await Promise.all(stopped.map((member) => member.signal('SIGSTOP')))
  const searches: { listed: number; seconds: number }[] = []
  for (const member of running.slice(0, 4)) {
    const listed = (await peersOf(member)).filter((origin) => hanging.has(origin)).length
    const startedMs = performance.now()
    const { best } = await search(member)
    searches.push({ listed, seconds: best === undefined ? giveUpMs : (performance.now() - startedMs) / 1_000 })
  }
  await Promise.all(stopped.map((member) => member.signal('SIGCONT')))
  const slowest = Math.max(...searches.map(({ seconds }) => seconds))
  const listed = Math.max(...searches.map((search) => search.listed))
  row(`slowest search, ${listed} of ${size} listed and hanging`, '3 s', `${slowest.toFixed(2)} s`, slowest <= 3)
  reportFigures(...rows)
  process.exitCode = rows.every(({ reached }) => reached) ? 0 : 1
} finally {
  await close()
}
