/** Networks on which money is real. */
const mainNetworks = new Set([
  'eip155:1',
  'eip155:10',
  'eip155:56',
  'eip155:137',
  'eip155:8453',
  'eip155:42161',
  'eip155:43114',
])

const isLoopbackUrl = (url: string): boolean =>
  URL.canParse(url) && ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname)

/** Money of a main network is real, unless the chain that is read is on this machine. */
export const isRealMoney = (network: string, rpc: string | undefined): boolean =>
  mainNetworks.has(network) && !(rpc !== undefined && isLoopbackUrl(rpc))
