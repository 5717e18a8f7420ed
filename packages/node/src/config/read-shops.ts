import { facilitatorVariables } from '@assay/till/facilitators'
import type { ShopDeclaration } from '../shops/shop.ts'
import { type NodeFacts, readVariable, SettingsError, type Variable } from '../shops/shop-settings.ts'
import type { ConfiguredShop } from './config-type.ts'
import { type Described, nodeVariables } from './variables.ts'

const ownVariables: Readonly<Record<string, Described>> = { ...nodeVariables, ...facilitatorVariables }

/** Variables of all shops. Two shops share a variable only by sharing its declaration. */
export function variablesOf(shops: readonly ShopDeclaration[]): Readonly<Record<string, Variable>> {
  const all: Record<string, Variable> = {}
  for (const { name, variables } of shops)
    for (const [variable, declared] of Object.entries(variables)) {
      if (variable in ownVariables || (all[variable] ?? declared) !== declared)
        throw new Error(`${name} declares ${variable}, which somebody else declares`)
      all[variable] = declared
    }
  return all
}

/** How the documents show every variable of the node and of these shops. */
export function describeVariables(shops: readonly ShopDeclaration[]): Readonly<Record<string, Described>> {
  const described = Object.entries(variablesOf(shops)).map(([name, variable]) => [
    name,
    {
      shown: variable.shown ?? (variable.default === undefined ? 'none' : `\`${variable.default}\``),
      description: variable.description,
      secret: variable.secret,
    },
  ])
  return { ...ownVariables, ...Object.fromEntries(described) }
}

/** The shops with their settings, and whatever is wrong with those. */
export function readShops(
  given: Readonly<Record<string, string | undefined>>,
  shops: readonly ShopDeclaration[],
  node: NodeFacts,
): { shops: ConfiguredShop[]; values: Record<string, unknown>; problems: string[] } {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, variable] of Object.entries(variablesOf(shops))) {
    const read = readVariable(name, variable, given[name], node.demo)
    if ('problem' in read) problems.push(read.problem)
    else values[name] = read.value
  }
  const configured = shops
    // One whose variable cannot even be read is not asked about it.
    .filter(({ variables }) => Object.keys(variables).every((name) => name in values))
    .flatMap((shop) => {
      try {
        const { variables: _, retention: __, configure, ...rest } = shop
        return [{ ...rest, open: configure(values, node) }]
      } catch (error) {
        problems.push(...(error instanceof SettingsError ? error.problems : [(error as Error).message]))
        return []
      }
    })
  return { shops: configured, values, problems: [...new Set(problems)] }
}
