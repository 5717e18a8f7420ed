// npm run profile: where a warm node spends its time on each hot path. Shares of the time it worked, not figures to reach.
import { rm } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { temporaryHome } from '../process/temporary-home.ts'
import { readOrigin } from '../record.ts'
import { hotPaths } from './paths.ts'
import { recordPath } from './recorded.ts'
import { sharesOf } from './where.ts'

const names = hotPaths.map(({ name }) => name)
const usage = `npm run profile [-- --only 402,paid] [-- --json] [-- --record]
  --only    some of: ${names.join(', ')}
  --json    the shares as JSON on standard output
  --record  writes them into the table of docs/profile.md
`
const rows = 9

export async function runProfile(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      json: { type: 'boolean' },
      record: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  })
  const only = values.only?.split(',').map((name) => name.trim()) ?? names
  const unknown = only.filter((name) => !names.includes(name))
  if (values.help || unknown.length > 0) {
    process.stderr.write(usage)
    return values.help ? 0 : 2
  }
  const print = (text: string) => process.stdout.write(`${text}\n`)
  const origin = readOrigin()
  const all: Record<string, ReturnType<typeof sharesOf>> = {}
  for (const path of hotPaths.filter(({ name }) => only.includes(name))) {
    process.stderr.write(`${path.what} ...\n`)
    const home = await temporaryHome('assay-profile-')
    try {
      const shares = sharesOf(await path.profile(home), rows)
      all[path.name] = shares
      if (values.record) recordPath(path.name, { ...origin, shares })
      if (values.json) continue
      print(`\n${path.what} (${path.name})`)
      for (const { what, share, most } of shares)
        print(`${`${(share * 100).toFixed(1)} %`.padStart(8)}  ${what}${most === '' ? '' : ` (${most})`}`)
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  }
  if (values.json) print(JSON.stringify(all, null, 2))
  return 0
}
