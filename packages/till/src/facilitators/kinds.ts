import type { Facilitator } from '../contract/facilitator.ts'
import { cdp } from './cdp/index.ts'
import type { FacilitatorChoice, FacilitatorKind, FacilitatorPorts } from './facilitator-kind.ts'
import { http } from './http/index.ts'
import { local } from './local/index.ts'

/** The first is chosen where the operator chooses none. */
const kinds: readonly FacilitatorKind[] = [local, cdp, http]

export function chooseFacilitator(
  choice: string | undefined,
  env: Readonly<Record<string, unknown>>,
  problems: string[],
): FacilitatorChoice {
  const kind = choice === undefined ? kinds[0] : kinds.find((one) => one.takes(choice))
  if (!kind) {
    problems.push(`FACILITATOR: must be one of: ${kinds.map(({ chosenBy }) => chosenBy).join(', ')}`)
    return { kind: '', settings: {} }
  }
  return { kind: kind.name, settings: kind.readSettings(choice ?? kind.name, env, problems) }
}

export function openFacilitator({ kind, settings }: FacilitatorChoice, ports: FacilitatorPorts): Promise<Facilitator> {
  const chosen = kinds.find(({ name }) => name === kind)
  if (!chosen) throw new Error(`there is no facilitator ${kind}`)
  return chosen.open(settings, ports)
}
