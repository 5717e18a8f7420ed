/** What each subject is started with: the facilitator of the suite, its chain and its test dollar. */
const read = (name: string): string => {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set`)
  return value
}

export const port = Number(read('PORT'))
export const facilitatorUrl = read('FACILITATOR_URL')
export const rpc = read('RPC_URL')
export const asset = read('ASSET') as `0x${string}`
export const network = read('NETWORK') as `eip155:${number}`
export const payTo = read('PAY_TO') as `0x${string}`
export const origin = `http://127.0.0.1:${port}`

/** Where the seller settles by itself. */
export const settlerKey = process.env['SETTLER_KEY'] as `0x${string}` | undefined

/** The routes that every subject sells, and their prices in units of the asset. */
export const path = '/weather'
export const amount = '1000'
export const otherPath = '/forecast'
export const otherAmount = '2000'
export const weather = () => ({ city: 'Paris', degrees: 18 })
