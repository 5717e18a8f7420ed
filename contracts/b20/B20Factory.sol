// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {B20Rules} from "./B20Rules.sol";
import {B20ActivationRegistry} from "./B20ActivationRegistry.sol";

interface IB20Creation {
    function devnetOpen(string calldata name, string calldata symbol, uint8 decimals, string calldata currency) external;
    function devnetFirstAdmin(address admin) external;
    function devnetClose() external;
}

/// Stand-in of the B20 factory. A contract cannot put code at a chosen address: where the stub is missing it says so, and
/// the embedded chain puts it there and tries again.
contract B20Factory {
    event B20Created(
        address indexed token, uint8 indexed variant, string name, string symbol, uint8 decimals, bytes variantParams
    );

    error DevnetCodeMissing(address token);
    error TokenAlreadyExists(address token);
    error InvalidVariant();
    error UnsupportedVersion(uint8 version, uint8 variant);
    error MissingRequiredField(string field);
    error InvalidCurrency(string code);
    error InvalidDecimals(uint8 decimals);
    error InitCallFailed(uint256 index);

    struct AssetParams {
        uint8 version;
        string name;
        string symbol;
        address initialAdmin;
        uint8 decimals;
    }

    struct StablecoinParams {
        uint8 version;
        string name;
        string symbol;
        address initialAdmin;
        string currency;
    }

    struct StablecoinEventParams {
        uint8 version;
        string currency;
    }

    // A variant of some later fork, so that tools can be tried with one they do not know.
    uint8 private constant LATER_VARIANT = 2;
    bytes32 private constant FEATURE_LATER = keccak256("devnet.b20_later_variant");

    mapping(address token => bool) private created;

    function getB20Address(uint8 variant, address sender, bytes32 salt) public pure returns (address) {
        uint256 tail = uint256(keccak256(abi.encode(sender, salt))) >> 184;
        return address(uint160((uint256(0xB2) << 152) | (uint256(variant) << 72) | tail));
    }

    function isB20(address token) external pure returns (bool) {
        return B20Rules.hasTokenPrefix(token);
    }

    function isB20Initialized(address token) external view returns (bool) {
        return B20Rules.hasTokenPrefix(token) && created[token];
    }

    function createB20(uint8 variant, bytes32 salt, bytes calldata params, bytes[] calldata initCalls)
        external
        returns (address token)
    {
        checkVariant(variant);
        token = getB20Address(variant, msg.sender, salt);
        if (created[token]) revert TokenAlreadyExists(token);
        if (token.code.length == 0) revert DevnetCodeMissing(token);
        created[token] = true;
        address admin = variant == 1 ? openStablecoin(token, params) : openAsset(token, variant, params);
        if (admin != address(0)) IB20Creation(token).devnetFirstAdmin(admin);
        for (uint256 i = 0; i < initCalls.length; i++) {
            (bool ok,) = token.call(initCalls[i]);
            if (!ok) revert InitCallFailed(i);
        }
        IB20Creation(token).devnetClose();
    }

    function checkVariant(uint8 variant) private view {
        if (variant > LATER_VARIANT) revert InvalidVariant();
        bytes32 feature = variant == 0
            ? B20Rules.FEATURE_ASSET
            : variant == 1 ? B20Rules.FEATURE_STABLECOIN : FEATURE_LATER;
        if (variant == LATER_VARIANT && !B20ActivationRegistry(B20Rules.ACTIVATION).isActivated(feature)) {
            revert InvalidVariant();
        }
        B20ActivationRegistry(B20Rules.ACTIVATION).checkActivated(feature);
    }

    function openAsset(address token, uint8 variant, bytes calldata params) private returns (address) {
        AssetParams memory p = abi.decode(params, (AssetParams));
        if (p.version != 1) revert UnsupportedVersion(p.version, variant);
        checkNames(p.name, p.symbol);
        if (p.decimals < 6 || p.decimals > 18) revert InvalidDecimals(p.decimals);
        IB20Creation(token).devnetOpen(p.name, p.symbol, p.decimals, "");
        emit B20Created(token, variant, p.name, p.symbol, p.decimals, "");
        return p.initialAdmin;
    }

    function openStablecoin(address token, bytes calldata params) private returns (address) {
        StablecoinParams memory p = abi.decode(params, (StablecoinParams));
        if (p.version != 1) revert UnsupportedVersion(p.version, 1);
        checkNames(p.name, p.symbol);
        bytes memory code = bytes(p.currency);
        if (code.length == 0) revert MissingRequiredField("currency");
        for (uint256 i = 0; i < code.length; i++) {
            if (code[i] < "A" || code[i] > "Z") revert InvalidCurrency(p.currency);
        }
        IB20Creation(token).devnetOpen(p.name, p.symbol, 6, p.currency);
        emit B20Created(token, 1, p.name, p.symbol, 6, abi.encode(StablecoinEventParams(1, p.currency)));
        return p.initialAdmin;
    }

    function checkNames(string memory name, string memory symbol) private pure {
        if (bytes(name).length == 0) revert MissingRequiredField("name");
        if (bytes(symbol).length == 0) revert MissingRequiredField("symbol");
    }

    fallback() external {
        B20Rules.unknownCall();
    }
}
