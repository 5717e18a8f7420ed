import type { RunningNode } from './node.ts'

/** What a newcomer needs to see: where it is, and a first purchase to paste. */
export function startSummary(
  node: Pick<RunningNode, 'config' | 'url' | 'devnets' | 'firstPurchase'>,
  seconds: number,
): string {
  const { config, url } = node
  const chains = node.devnets.map((devnet) => `${devnet.chainId} at ${devnet.url}`).join(', ')
  const lines = [
    '',
    `  Assay ${config.mode === 'demo' ? 'demo node' : 'node'}, up in ${seconds.toFixed(1)} s`,
    `  console   ${url}/`,
    `  API       ${url}/openapi.json`,
    `  data      ${config.home}`,
  ]
  if (chains) lines.push(`  chains    ${chains}`)
  if (config.supervised) lines.push(`  workers   ${config.processes}`)
  if (node.firstPurchase !== undefined && config.mode === 'demo')
    lines.push(
      '',
      '  Buy your first answer (0.001 test USDC, from another terminal in this folder):',
      '',
      `    npx assay buy "${url}${node.firstPurchase}" --demo`,
    )
  lines.push('', '  Ctrl-C stops everything.', '')
  return lines.join('\n')
}
