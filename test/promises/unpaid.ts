import { connect } from 'node:net'
import { encodePayload, quote, send, signPayment } from '../harness/till-fixture.ts'
import { createDice, createFaults, createProgress, type Dice, type Proof, type ProofOptions, plain } from './proof.ts'
import { canary, openProofNode, type ProofNode, paymentStates, proofPath } from './proof-node.ts'
import { type FuzzedRequest, fuzzRequest, type Targets } from './unpaid-requests.ts'

const perConnection = 100
const connectionsAtOnce = 8
const canaryBytes = Buffer.from(canary)

/** Nothing served unpaid: any request over a real socket to a node with every shop; `count` is answers seen. */
export const proveNothingUnpaid: Proof = async (options) => {
  const proofNode = await openProofNode()
  try {
    return await fuzzNode(proofNode, options)
  } finally {
    await proofNode.till.close()
  }
}

export async function fuzzNode(proofNode: ProofNode, { count, say }: ProofOptions) {
  const targets = await prepareTargets(proofNode)
  const [states, callCounts] = [await paymentStates(proofNode.till), { ...proofNode.callCounts }]
  say(`${plain(count)} unpaid requests at ${targets.paths.length} paid addresses ...`)
  const seen = { answers: 0, statuses: new Map<string, number>(), paidAnswers: 0 }
  const faults = createFaults()
  const progress = createProgress(say, count, 'requests answered')
  const seed = Date.now() % 1_000_000
  const work = async (worker: number) => {
    const dice = createDice(seed + worker)
    while (seen.answers < count) {
      const requests = batch(targets, dice)
      const answered = await exchange(proofNode.till.node.address, requests)
      const leaked = countLeaks(answered, seen)
      if (leaked > 0)
        faults.note(
          `${leaked} paid answers within seed ${seed + worker}: ${requests.map((one) => one.bytes.toString('latin1').split('\r\n')[0]).join(' | ')}`,
        )
      progress(seen.answers)
    }
  }
  await Promise.all(Array.from({ length: connectionsAtOnce }, (_, worker) => work(worker)))
  if (proofNode.callCounts.prepared !== callCounts.prepared)
    faults.note(`${proofNode.callCounts.prepared - callCounts.prepared} paid handlers were run`)
  if (proofNode.callCounts.settled !== callCounts.settled)
    faults.note(`${proofNode.callCounts.settled - callCounts.settled} settlements were tried`)
  const after = await paymentStates(proofNode.till)
  if (JSON.stringify(after) !== JSON.stringify(states)) faults.note(`payments went to ${JSON.stringify(after)}`)
  if ((seen.statuses.get('402') ?? 0) < seen.answers / 20)
    faults.note('hardly a request reached a paid route: this run shows nothing')
  const details = [...seen.statuses]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([status, n]) => `${plain(n)} x ${status}`)
  return {
    seen: `${seen.paidAnswers} paid answers in ${plain(seen.answers)} requests (${details.join(', ')}; seed ${seed})`,
    faults: faults.all(),
  }
}

/** Real purchases first, so that there is something to leak: stored answers and payments that were used. */
async function prepareTargets({ till, paidRoutes }: ProofNode): Promise<Targets> {
  const paths = paidRoutes.map(({ path, example }) =>
    path.replaceAll(/:(\w+)/g, (_all, name: string) => example.params?.[name] ?? 'x'),
  )
  const buyer = await till.newBuyer()
  const spent: string[] = []
  for (const of of ['a', 'b', 'c']) {
    const url = `${till.node.url}${proofPath}?of=${of}`
    const header = encodePayload(await signPayment(buyer, await quote(url)))
    const response = await send(url, header)
    if (!(await response.text()).includes(canary)) throw new Error(`a purchase was answered with ${response.status}`)
    spent.push(header)
  }
  return {
    host: new URL(till.node.url).host,
    paths: [...new Set([...paths, proofPath, `${proofPath}?of=a`, `${proofPath}?of=b`, `${proofPath}?of=c`])],
    spent,
  }
}

export function batch(targets: Targets, dice: Dice): FuzzedRequest[] {
  const requests: FuzzedRequest[] = []
  while (requests.length < perConnection && !requests.at(-1)?.last) requests.push(fuzzRequest(targets, dice))
  return requests
}

const waitMs = 20_000
const answersInFlight = 5

/** Sends requests one group after the other over one connection, and gives every byte that came back. */
export function exchange(address: string, requests: readonly FuzzedRequest[]): Promise<Buffer> {
  const { hostname, port } = new URL(address)
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    const socket = connect(Number(port), hostname)
    const timer = setTimeout(() => socket.destroy(), waitMs)
    let sent = 0
    let heads = 0
    const sendMore = () => {
      const group = requests.slice(sent, sent + answersInFlight)
      sent += group.length
      if (group.length > 0) socket.write(Buffer.concat(group.map(({ bytes }) => bytes)))
      // Half-closed: the server answers what it has and then closes, too.
      if (sent >= requests.length) socket.end()
    }
    socket.on('connect', sendMore)
    socket.on('data', (piece: Buffer) => {
      pieces.push(piece)
      heads += countHeads(piece)
      if (sent < requests.length && heads >= sent) sendMore()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(Buffer.concat(pieces))
    })
  })
}

const statusLine = Buffer.from('HTTP/1.1 ')

function countHeads(piece: Buffer): number {
  let count = 0
  for (let at = piece.indexOf(statusLine); at >= 0; at = piece.indexOf(statusLine, at + 9)) count += 1
  return count
}

type Seen = { answers: number; statuses: Map<string, number>; paidAnswers: number }

/** Counts the answers and gives how many of them carry what only payers get. */
function countLeaks(bytes: Buffer, seen: Seen): number {
  for (let at = bytes.indexOf(statusLine); at >= 0; at = bytes.indexOf(statusLine, at + 9)) {
    const status = bytes.toString('latin1', at + 9, at + 12)
    if (status === '100') continue
    seen.answers += 1
    seen.statuses.set(status, (seen.statuses.get(status) ?? 0) + 1)
  }
  let paid = 0
  for (let at = bytes.indexOf(canaryBytes); at >= 0; at = bytes.indexOf(canaryBytes, at + 9)) paid += 1
  seen.paidAnswers += paid
  return paid
}
