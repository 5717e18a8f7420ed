// node scripts/generate-alarm-advice.mjs: writes what to do about each alarm from docs/operations.md, for the console.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './install-if-missing.mjs'

export const target = 'packages/node/src/faces/console/alarm-advice.generated.ts'

/** The last column of the table of alarms, without links: the console has no documents. */
export function alarmAdvice(operations) {
  const section = operations.split('\n## Alarms\n')[1]?.split('\n## ')[0] ?? ''
  const rows = [...section.matchAll(/^\| `([a-z_]+)` \| .* \| (.*) \|$/gm)].map(([, name, text]) => {
    const plain = text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1 (docs/operations.md)').replace(/'/g, '’')
    return `  ${name}:\n    '${plain}',\n`
  })
  return `// Written by scripts/generate-alarm-advice.mjs from docs/operations.md.\nexport const alarmAdvice: Readonly<Record<string, string>> = {\n${rows.join('')}}\n`
}

if (process.argv[1]?.endsWith('generate-alarm-advice.mjs'))
  writeFileSync(join(root, target), alarmAdvice(readFileSync(join(root, 'docs/operations.md'), 'utf8')))
