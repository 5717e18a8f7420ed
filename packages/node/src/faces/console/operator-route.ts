import type { OperatorRole } from '@assay/protocol/operator-role'
import type { AnswerContent } from '@assay/till'
import { type CallContext, defineRoute, type RouteDeclaration, type RouteInput } from '../../http/index.ts'
import { type CallerDeps, type Operator, requireOperator } from './caller.ts'

export type OperatorDeclaration = Omit<RouteDeclaration, 'access' | 'area' | 'operator'> & {
  operator: OperatorRole
  /** Where some requests need more than the role of the route. */
  roleFor?(input: RouteInput): OperatorRole
  handle(input: RouteInput, by: Operator, call: CallContext): Promise<AnswerContent>
}

/** A route for the operator's wallets: nothing of it runs before the role that it declares was proven. */
export function operatorRoute(
  deps: CallerDeps,
  { handle, roleFor, ...declaration }: OperatorDeclaration,
): RouteDeclaration {
  const { operator, description = '' } = declaration
  return defineRoute({
    ...declaration,
    area: 'core',
    description: `${description} Signed (ERC-8128) by a wallet that OPERATORS gives the role ${operator}.`.trim(),
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (input, call) =>
        handle(input, await requireOperator(deps, call, roleFor?.(input) ?? operator), call),
    },
  })
}
