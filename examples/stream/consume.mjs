// Prints demand by topic as it is published, and comes back after a broken line where it was. Node 20, no packages.
// NODE=https://node.example TOKEN=asub_… [AFTER=0-42] node consume.mjs [figures to print]
const { NODE = 'http://127.0.0.1:4020', TOKEN = '', AFTER = '' } = process.env
let left = Number(process.argv[2] ?? Number.POSITIVE_INFINITY)
let lastId = AFTER

async function follow() {
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${TOKEN}` }
  if (lastId) headers['last-event-id'] = lastId
  const response = await fetch(`${NODE}/v1/market/intent-stream`, { headers })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  let rest = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + chunk).split('\n\n')
    rest = parts.pop()
    for (const part of parts) if (!heard(part)) return
  }
}

/** False once enough was printed. */
function heard(part) {
  const field = (name) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1]
  lastId = field('id') ?? lastId
  if (field('event') !== 'tick') return true
  const { cluster, ends_at, demand, error_95 } = JSON.parse(field('data')).data
  console.log(`${ends_at} ${cluster.name}: ${demand} ± ${error_95.demand}`)
  left -= 1
  return left > 0
}

while (left > 0) await follow()
process.exit(0)
