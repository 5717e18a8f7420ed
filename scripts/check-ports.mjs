// Clocks, timers, randomness, the environment and the network are ports. Raw ones stand in adapters only, each of them
// named here with its reason: a simulation that cannot reach one of these would not be deterministic.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const rules = [
  ['clock', /\bDate\.now\b|\bnew Date\(\s*\)|(?<![.\w'`])Date\(\)|\bperformance\.now\b|\bprocess\.hrtime\b/],
  ['timer', /(?<![.\w])(?:globalThis\.)?set(?:Timeout|Interval)\(|node:timers|\bAbortSignal\.timeout\(/],
  ['random', /\bMath\.random\b|\brandom(?:UUID|Bytes|Int|FillSync|Fill)\b|\bgetRandomValues\b|\bgeneratePrivateKey\b/],
  ['environment', /\bprocess\.env\b/],
  [
    'network',
    /(?<![.\w])(?:globalThis\.)?fetch\((?!url: string)|(?:from|import|import\(|require\()\s*['"](?:(?:node:)?(?:https?|http2|net|tls|dgram|dns)(?:\/promises)?|undici)['"]/,
  ],
]

/** What is raw on purpose. A line that is no longer needed is reported as well. */
const tillExceptions = {
  'kernel/clock.ts': { clock: 'the system clock itself' },
  'kernel/random.ts': { random: 'the system randomness itself' },
  'kernel/secp256k1.ts': { clock: 'times both curves once at start; only which of two equal results is faster' },
  'store/testing.ts': { environment: 'test support: the server that a test run shares' },
  'store/embedded/tools.ts': { environment: 'PATH for the tools of PostgreSQL, which get no other variable' },
  'store/embedded/free-port.ts': { network: 'asks the system for a free port of the embedded server' },
  'store/group-commit.ts': {
    timer: 'lets a batch gather for a moment: what is written together, never what is written',
  },
  'kernel/loop-watch.ts': { timer: 'the ticks that a blocked loop holds up' },
  'chain/http-endpoint.ts': { network: 'the JSON-RPC adapter', timer: 'the limit of one call' },
  'devnet/http-server.ts': { network: 'the JSON-RPC listener of the embedded chain' },
  'test-self.ts': { network: "asks the seller's own server by its address" },
  'signer/https-adapter.ts': { network: 'the requests to a signer over mutual TLS', timer: 'their limit' },
  'signer/serve-signer-adapter.ts': { network: 'the listener of a signer' },
  'signer/sync-exchange-adapter.ts': { network: 'the requests to a signer from their own thread' },
  'facilitators/http/http-exchange.ts': { network: 'the adapter to a facilitator over HTTP', timer: 'its limit' },
}

const nodeExceptions = {
  'main.ts': { environment: 'the process entry hands the environment to the configuration' },
  'end-process-adapter.ts': { timer: 'ends a process that something keeps after everything was stopped' },
  'compose/telemetry/otlp-adapter.ts': { network: 'the requests to a collector', timer: 'their limit' },
  'compose/processes/bind-socket.ts': { network: 'binds the socket that workers listen on' },
  'http/server.ts': { network: 'the listener', timer: 'closes connections while draining' },
  'http/acceptors.ts': { network: 'further descriptors of the listener' },
  'http/write-response.ts': { timer: 'cuts sockets that do not read' },
  'outbound/exchange-adapter.ts': { network: 'the socket of the safe fetcher' },
  'outbound/browser-proxy-adapter.ts': {
    network: 'the loopback proxy of the renderer, and its connections to vetted addresses',
  },
  'outbound/dns/udp-resolver-adapter.ts': { network: 'the resolver of the safe fetcher' },
  'shops/matrix/ingest/official-outbound.ts': {
    network: 'reads which resolvers the machine has; asks none of them itself',
  },
  'shops/matrix/ingest/ftp-adapter.ts': { network: 'the FTP adapter to publishers', timer: 'its limit' },
  'tlog/witness-adapter.ts': { network: 'the adapter to witnesses of the log', timer: 'its limit' },
  'tlog/repair/log-files-adapter.ts': { network: 'reads copies of the log for a repair', timer: 'its limit' },
  'tlog/monitor/http-adapter.ts': { network: 'the requests of a log monitor', timer: 'their limit' },
  'shops/match/opensearch-adapter.ts': { network: 'the requests to a search cluster', timer: 'their limit' },
  'shops/sources/demo/open-demo-sites.ts': { network: 'the loopback sites of the demo' },
  'shops/intents/demo/agent-adapter.ts': { network: 'the buyers of the demo, over loopback', timer: 'their limit' },
}

const sdkExceptions = {
  'platform.ts': {
    clock: 'the clock of the client',
    timer: 'its waits and limits',
    random: 'its randomness',
    network: 'its requests',
  },
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

export function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesBelow(path)
    else if (/\.(ts|mjs)$/.test(entry.name)) yield path
  }
}

const isTest = (name) => /\.(test|fixture)\.ts$/.test(name) || /(^|\/)test-(deps|chain)\.ts$/.test(name)

/** The client's port calls its randomness as the system does; what goes through it is not raw. */
const throughPlatform = /\bplatform\.randomBytes\(|\bPick<Platform, [^>]*>/g

/** The rules a line breaks. Types and the address check of node:net reach nothing; comments say what they like. */
export function rawCallsOf(line) {
  if (/^\s*(\/\/|\*|\/\*)/.test(line)) return []
  if (/^\s*import type /.test(line) || /^\s*import \{ isIP \} from 'node:net'/.test(line)) return []
  const rest = line.replace(throughPlatform, '')
  return rules.filter(([, pattern]) => pattern.test(rest)).map(([rule]) => rule)
}

/** Every raw call outside its adapter, and every exception nobody needs any more. */
export function checkPorts(source, allowed) {
  const problems = []
  const used = new Set()
  for (const path of filesBelow(source)) {
    const name = relative(source, path).split(sep).join('/')
    if (isTest(name)) continue
    readFileSync(path, 'utf8')
      .split('\n')
      .forEach((line, index) => {
        for (const rule of rawCallsOf(line)) {
          if (allowed[name]?.[rule]) used.add(`${name} ${rule}`)
          else problems.push(`${name}:${index + 1}: raw ${rule}, use the port: ${line.trim().slice(0, 80)}`)
        }
      })
  }
  for (const [name, given] of Object.entries(allowed))
    for (const rule of Object.keys(given))
      if (!used.has(`${name} ${rule}`)) problems.push(`${name}: needs no exception for raw ${rule} any more`)
  return problems
}

/** All sources that are held to it. */
export const checkedSources = {
  'packages/till/src': tillExceptions,
  'packages/node/src': nodeExceptions,
  'packages/sdk/src': sdkExceptions,
  'packages/protocol/src': { 'sleep.ts': { timer: 'the sleep of the system clock and of the client' } },
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = Object.entries(checkedSources).flatMap(([folder, allowed]) =>
    checkPorts(join(root, folder), allowed).map((problem) => `${folder}/${problem}`),
  )
  for (const problem of problems) process.stdout.write(`${problem}\n`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
