/** Expects an IP address without brackets: true for every address whose packets never leave this machine. */
export const isLoopbackIp = (address: string): boolean => address === '::1' || /^127(?:\.\d{1,3}){3}$/.test(address)

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Expects the hostname of a URL. Other names and addresses lead to this machine, too; only these are trusted as such. */
export const isLoopbackHost = (hostname: string): boolean => loopbackHosts.has(hostname)

export const isLoopbackUrl = (url: string): boolean => URL.canParse(url) && isLoopbackHost(new URL(url).hostname)
