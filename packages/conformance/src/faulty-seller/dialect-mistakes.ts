import {
  type Asked,
  answers,
  freeAnswer,
  type Given,
  isServed,
  type Mistake,
  textOf,
  unpaid,
  withHeader,
  without,
  withReceipt,
} from './exchange.ts'

const pathOf = (target: string) => target.split('?')[0]

/** What was sold, by the key that `keyOf` finds in a request; the answer to a later one may be another. */
export const afterSale =
  <Sold>(
    keyOf: (asked: Asked) => string | undefined,
    note: (asked: Asked) => Sold,
    condition: (given: Given, asked: Asked, sold: Sold) => Given,
  ): Mistake =>
  (sell) => {
    const memory = new Map<string, Sold>()
    return async (asked) => {
      const key = keyOf(asked)
      if (key === undefined) return sell(asked)
      const sold = memory.get(key)
      const given = await sell(asked)
      if (sold !== undefined) return condition(given, asked, sold)
      if (isServed(given)) memory.set(key, note(asked))
      return given
    }
  }

const credentialId = ({ credential }: Asked) => credential?.challenge.id
const credentialNonce = ({ credential, payment }: Asked) =>
  credential?.payload.nonce ?? payment?.payload.authorization.nonce
const permitNonce = ({ permit }: Asked) => permit?.permit2Authorization.nonce
const target = (asked: Asked) => asked.target

const servesCredential = (
  condition: (credential: NonNullable<Asked['credential']>, asked: Asked) => boolean,
): Mistake => answers((given, asked) => (asked.credential && condition(asked.credential, asked) ? freeAnswer : given))

const servesPermit = (
  condition: (permit: NonNullable<Asked['permit']>['permit2Authorization'], asked: Asked) => boolean,
): Mistake =>
  answers((given, asked) => (asked.permit && condition(asked.permit.permit2Authorization, asked) ? freeAnswer : given))

const askedAmount = ({ challenge }: NonNullable<Asked['credential']>): unknown => {
  try {
    return (JSON.parse(Buffer.from(challenge.request, 'base64url').toString()) as { amount: unknown }).amount
  } catch {
    return undefined
  }
}

/** A second challenge beside each one, at nine times its price. */
function dearer(header: string): string {
  const [, id, request] = /id="([^"]+)".*request="([^"]+)"/.exec(header) ?? []
  if (id === undefined || request === undefined) return header
  const asked = JSON.parse(Buffer.from(request, 'base64url').toString()) as { amount: string }
  const changed = Buffer.from(JSON.stringify({ ...asked, amount: `9${asked.amount}` })).toString('base64url')
  return `${header}, ${header.replaceAll(id, `${id.slice(0, -4)}AAAA`).replaceAll(request, changed)}`
}

export const mppMistakes: Record<string, Mistake> = {
  'mpp-challenge': answers((given) => withHeader(given, 'www-authenticate', dearer)),
  'mpp-copies': afterSale(credentialId, target, (given, asked, sold) => (asked.target === sold ? freeAnswer : given)),
  'mpp-both-dialects': afterSale(
    credentialNonce,
    ({ credential }) => credential !== undefined,
    (given, { payment }, wasCredential) => (payment && wasCredential ? freeAnswer : given),
  ),
  'mpp-altered': servesCredential((credential) => askedAmount(credential) === '1'),
  'mpp-other-request': afterSale(credentialId, target, (given, asked, sold) =>
    asked.target === sold ? given : freeAnswer,
  ),
  'mpp-expired': servesCredential(({ challenge }, { now }) => Date.parse(challenge['expires'] ?? '') / 1000 < now()),
  'mpp-5xx-after-settle': answers(async (given, asked) =>
    asked.credential && (await asked.lastFault()) === 'fails_after' ? unpaid(given) : given,
  ),
  'mpp-lost-answer': afterSale(credentialId, target, (given, asked, sold) =>
    asked.target === sold ? unpaid(given) : given,
  ),
  'mpp-receipt': answers((given) => without(given, 'payment-receipt')),
}

export const permit2Mistakes: Record<string, Mistake> = {
  'permit2-copies': afterSale(permitNonce, textOf, (given, asked, sold) =>
    textOf(asked) === sold ? freeAnswer : given,
  ),
  'permit2-terms': servesPermit(({ deadline }, { now }) => Number(deadline) < now()),
  'permit2-nonce': afterSale(permitNonce, textOf, (given, asked, sold) =>
    textOf(asked) === sold ? given : freeAnswer,
  ),
  'permit2-cancelled-while-settling': answers(async (given, asked) => {
    const nonce = permitNonce(asked)
    return nonce !== undefined && !isServed(given) && (await asked.wasHeld(nonce)) ? freeAnswer : given
  }),
  'upto-facilitator': servesPermit(({ from, witness }) => witness.facilitator === from),
  'upto-charge': answers((given, { permit }) =>
    permit ? withReceipt(given, (receipt) => ({ ...receipt, amount: '1' })) : given,
  ),
}

export const routeMistakes: Record<string, Mistake> = {
  head: answers((given, { method, headers }) =>
    method === 'HEAD' && headers['payment-signature'] === undefined
      ? { status: 500, headers: {}, body: 'error' }
      : given,
  ),
  'other-route': afterSale(
    ({ payment }) => payment?.payload.authorization.nonce,
    ({ target }) => pathOf(target),
    (given, asked, sold) => (pathOf(asked.target) === '/other' && sold === '/echo' ? freeAnswer : given),
  ),
  'answer-signature': answers((given) =>
    withHeader(given, 'signature', (value) => value.replace(/:(.{6})/, (_, start: string) => `:${turned(start)}`)),
  ),
  retention: answers((given, { payment, now }) => {
    const ends = Number(payment?.payload.authorization['validBefore'])
    return payment?.['extensions'] !== undefined && ends < now() ? unpaid(given) : given
  }),
}

/** Other letters of the same alphabet. */
const turned = (text: string) => text.replace(/[A-Za-z]/g, (letter) => (letter === 'A' ? 'B' : 'A'))
