import type { Facilitator } from '../contract/facilitator.ts'
import type { FacilitatorChoice, FacilitatorKind, FacilitatorPorts, FacilitatorVariable } from './facilitator-kind.ts'
import * as list from './list.ts'
import { createOrderedFacilitators } from './ordered/ordered-facilitators.ts'
import { createPaymentHolders } from './ordered/payment-holders.ts'

/** The first is chosen where the operator chooses none. */
const kinds: readonly FacilitatorKind[] = Object.values<{ kind: FacilitatorKind }>(list)
  .map(({ kind }) => kind)
  .sort((a, b) => Number(b.isDefault ?? false) - Number(a.isDefault ?? false))

const kindOf = ({ kind }: FacilitatorChoice): FacilitatorKind => {
  const found = kinds.find(({ name }) => name === kind)
  if (!found) throw new Error(`there is no facilitator ${kind}`)
  return found
}

/** What an operator may write, and what an embedder may. */
export const facilitatorChoices: readonly string[] = kinds.map(({ chosenBy }) => chosenBy)
export const facilitatorOptions: readonly string[] = kinds.map(({ option }) => option)

export const optionOf = (choice: FacilitatorChoice): string => kindOf(choice).option

/** The first that settles with wallets of this process, by what the operator writes. */
export const settlesItself = (choices: readonly FacilitatorChoice[]): string | undefined =>
  choices.map(kindOf).find(({ needsSettlerKeys }) => needsSettlerKeys)?.chosenBy

/** What is wrong with the choice of an embedder. */
export function findChoiceProblems(choice: FacilitatorChoice, given: { hasKeys: boolean; demo: boolean }): string[] {
  const { option, needsSettlerKeys, findProblems } = kindOf(choice)
  if (needsSettlerKeys && !given.hasKeys) return [`${option} needs the key of at least one wallet with gas`]
  return findProblems?.(choice.settings, given.demo) ?? []
}

/** What the kinds read of the environment, each its own. */
export const facilitatorVariables: Readonly<Record<string, FacilitatorVariable>> = Object.assign(
  {},
  ...kinds.map(({ variables }) => variables),
)

/** `cdp,local`: in the order in which they are tried. */
export function chooseFacilitators(
  list: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  problems: string[],
): FacilitatorChoice[] {
  const words = list === undefined ? facilitatorChoices.slice(0, 1) : list.split(',').map((word) => word.trim())
  if (new Set(words).size < words.length) problems.push('FACILITATOR: names one twice')
  return words.flatMap((word) => {
    const kind = kinds.find((one) => one.takes(word))
    if (kind) return [{ kind: kind.name, settings: kind.readSettings(word, env, problems) }]
    problems.push(`FACILITATOR: must be a list of: ${facilitatorChoices.join(', ')}`)
    return []
  })
}

export type OpenedFacilitators = {
  facilitator: Facilitator
  /** The one that settles with wallets of this process, if it is in the list. */
  local?: Facilitator
}

export async function openFacilitators(
  choices: readonly FacilitatorChoice[],
  ports: FacilitatorPorts,
): Promise<OpenedFacilitators> {
  const members: Facilitator[] = []
  let own: Facilitator | undefined
  for (const choice of choices) {
    const kind = kindOf(choice)
    const opened = await kind.open(choice.settings, ports)
    if (kind.needsSettlerKeys) own = opened
    members.push(opened)
  }
  const holders = createPaymentHolders(ports.sql)
  // Our own wallets record every transaction. No holder is recorded while this process is the only facilitator that
  // ever held a payment.
  const alone = members.length === 1 && own !== undefined && !(await holders.any())
  const facilitator = alone ? own : createOrderedFacilitators(members, { ...ports, holders })
  return { facilitator: facilitator as Facilitator, ...(own === undefined ? {} : { local: own }) }
}
