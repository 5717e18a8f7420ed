// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

interface IErc3009 {
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external;
    function transfer(address to, uint256 value) external returns (bool);
}

/// Takes a deposit into a channel by an EIP-3009 authorization whose nonce names the channel. For the embedded chains, at
/// the address and with the interface of the x402 contract of that name.
contract Erc3009DepositCollector {
    error OnlyX402BatchSettlement();

    address public constant x402BatchSettlement = 0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003;

    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external {
        if (msg.sender != x402BatchSettlement) revert OnlyX402BatchSettlement();
        (uint256 validAfter, uint256 validBefore, uint256 salt, bytes memory signature) =
            abi.decode(data, (uint256, uint256, uint256, bytes));
        bytes32 nonce = keccak256(abi.encode(channelId, salt));
        IErc3009(token).receiveWithAuthorization(
            payer, address(this), amount, validAfter, validBefore, nonce, signature
        );
        require(IErc3009(token).transfer(x402BatchSettlement, amount), "transfer failed");
    }
}
