"""The kernels of device_abi.py in PTX."""

HEAD = """
.version 7.0
.target sm_80
.address_size 64

.visible .entry main(
	.param .u64 main_param_0,
	.param .u64 main_param_1,
	.param .u32 main_param_2,
	.param .u32 main_param_3,
	.param .u32 main_param_4
)
.reqntid 64, 1, 1
{
	.reg .pred %p<4>;
	.reg .b32 %r<20>;
	.reg .b64 %rd<8>;
	ld.param.b64 %rd1, [main_param_0];
	ld.param.b64 %rd2, [main_param_1];
	ld.param.b32 %r1, [main_param_2];
	ld.param.b32 %r2, [main_param_3];
	ld.param.b32 %r3, [main_param_4];
	mov.u32 %r4, %ctaid.x;
	mov.u32 %r5, %tid.x;
	mad.lo.s32 %r6, %r4, 64, %r5;
	setp.ge.u32 %p1, %r6, %r1;
	@%p1 bra $L__exit;
	mul.wide.u32 %rd3, %r6, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	ld.global.b32 %r7, [%rd4];
"""
TAIL = """
$L__exit:
	ret;
}
\0"""
ADD = (
    HEAD
    + """
	mov.b32 %r8, 0;
$L__loop:
	setp.ge.u32 %p2, %r8, %r3;
	@%p2 bra $L__done;
	add.rn.f32 %r7, %r7, %r2;
	add.s32 %r8, %r8, 1;
	bra.uni $L__loop;
$L__done:
	st.global.b32 [%rd5], %r7;
"""
    + TAIL
)
CHECK = (
    HEAD
    + """
	setp.lt.u32 %p2, %r7, %r2;
	@%p2 bra $L__exit;
	add.s32 %r8, %r3, 1;
	st.global.b32 [%rd2], %r8;
	st.global.b32 [%rd2+4], %r7;
	st.global.b32 [%rd2+8], 0;
	st.global.b32 [%rd2+12], %r2;
	st.global.b32 [%rd2+16], 0;
"""
    + TAIL
)
