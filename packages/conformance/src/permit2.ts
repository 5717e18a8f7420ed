/** A permit as payments carry it: numbers are decimal text, `facilitator` is there in the scheme `upto` only. */
export type Permit2Authorization = {
  from: string
  permitted: { token: string; amount: string }
  spender: string
  nonce: string
  deadline: string
  witness: { to: string; facilitator?: string; validAfter: string }
}

export const permit2Message = ({ permitted, spender, nonce, deadline, witness }: Permit2Authorization) => ({
  permitted: { token: permitted.token, amount: BigInt(permitted.amount) },
  ...{ spender, nonce: BigInt(nonce), deadline: BigInt(deadline) },
  witness: { ...witness, validAfter: BigInt(witness.validAfter) },
})
