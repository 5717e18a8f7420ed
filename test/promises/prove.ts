// node --import tsx test/promises/prove.ts <name> [--count N]: one proof; exit code 1 when the promise is broken.
import { parseArgs } from 'node:util'
import { plain } from './proof.ts'
import { proofs } from './proofs.ts'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { count: { type: 'string' } } })
const say = (text: string) => process.stdout.write(`${text}\n`)
const proof = proofs[positionals[0] ?? '']
if (!proof) {
  process.stderr.write(`known: ${Object.keys(proofs).join(', ')}\n`)
  process.exit(2)
}
const startedMs = performance.now()
const prove = await proof.load()
const { seen, faults } = await prove({ count: Number(values.count ?? proof.asked), say })
for (const fault of faults) say(`  ! ${fault}`)
say(`seen: ${seen}`)
say(`${faults.length === 0 ? 'held' : 'BROKEN'} after ${plain((performance.now() - startedMs) / 1000)} s`)
process.exit(faults.length === 0 ? 0 : 1)
