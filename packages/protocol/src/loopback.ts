const loopbackIpv4 = /^127(?:\.\d{1,3}){3}$/

/** Of an IP address, without brackets. */
export const isLoopbackIp = (address: string): boolean => address === '::1' || loopbackIpv4.test(address)

/** Of the hostname of a URL. Other names may resolve to this machine; only these always do. */
export const isLoopbackHost = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || loopbackIpv4.test(hostname)

export const isLoopbackUrl = (url: string): boolean => URL.canParse(url) && isLoopbackHost(new URL(url).hostname)
