import { CliError } from '../exit-codes.ts'
import { loadNode } from '../load-node.ts'
import { type Check, fail, ok, skipped } from './check.ts'
import { checkData } from './data-folder.ts'
import { checkListings } from './listings.ts'
import { checkMarketData } from './market-data.ts'
import { checkPorts } from './ports.ts'
import { checkProduction } from './production.ts'
import { checkCommand, checkRuntime } from './runtime.ts'

/** The whole installation. Every part is checked, whatever the ones before it say; nothing is changed. */
export async function checkInstallation(env: NodeJS.ProcessEnv): Promise<Check[]> {
  const checks = checkCommand()
  const node = await loadNode().catch((error: Error) => error)
  if (node instanceof CliError) return [...checks, skipped('packages', `no node is installed here. ${node.hint}`)]
  checks.push(...(await checkRuntime(env)))
  if (node instanceof Error) return [...checks, fail('packages', node.message, 'run npm install again, then try again')]
  checks.push(ok('packages', `loaded; signatures are checked with the ${node.cryptoBackend()} curve`))
  try {
    const config = node.parseConfig(env)
    checks.push(ok('configuration', `${config.mode} mode, nothing wrong`))
    checks.push(...(await checkPorts(config)))
    checks.push(...(await checkData(node, config)))
    checks.push(...(await checkListings(node, config, Date.now())))
    if (config.mode === 'production')
      checks.push(...(await checkProduction(node, config)), ...(await checkMarketData(node, config)))
  } catch (error) {
    if (!(error instanceof node.ConfigError)) throw error
    for (const problem of error.problems)
      checks.push(fail('configuration', problem, 'docs/configuration.md explains every variable'))
  }
  return checks
}
