//! `#[derive(LogicStruct)]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DataStruct, DeriveInput, Error, Fields, Result};

/// Implements `Synth` and the field accessors that `#[hdl_gen]` uses.
pub fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(DataStruct { fields: Fields::Named(fields), .. }) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "LogicStruct: expected a struct with named fields"));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &input.generics,
            "LogicStruct: a word has a fixed width, so the struct cannot have parameters",
        ));
    }
    let name = &input.ident;
    let (mut access, mut names, mut types) = (Vec::new(), Vec::new(), Vec::new());
    for field in &fields.named {
        let (Some(field), ty) = (&field.ident, &field.ty) else { continue };
        let (width, offset) = (format_ident!("get_my_width_{field}"), format_ident!("get_my_offset_{field}"));
        access.push(quote! {
            #[doc(hidden)]
            #[inline(always)]
            pub fn #width(&self) -> usize {
                <#ty as optireduce_hw::hdl::prelude::Synth>::BITS
            }
            #[doc(hidden)]
            #[inline(always)]
            pub fn #offset(&self) -> usize {
                0 #(+ <#types as optireduce_hw::hdl::prelude::Synth>::BITS)*
            }
        });
        names.push(field);
        types.push(ty);
    }
    let labels = names.iter().map(ToString::to_string);
    let text = name.to_string();
    Ok(quote! {
        impl #name {
            #(#access)*
        }

        impl optireduce_hw::hdl::prelude::Synth for #name {
            const BITS: usize = 0 #(+ <#types as optireduce_hw::hdl::prelude::Synth>::BITS)*;

            fn descriptor() -> optireduce_hw::hdl::prelude::TypeDescriptor {
                optireduce_hw::hdl::word::struct_descriptor(
                    #text,
                    &[#((#labels, <#types as optireduce_hw::hdl::prelude::Synth>::descriptor)),*],
                )
            }

            fn vcd(self) -> optireduce_hw::hdl::prelude::VCDValue {
                optireduce_hw::hdl::prelude::VCDValue::Composite(vec![
                    #(Box::new(optireduce_hw::hdl::prelude::Synth::vcd(self.#names))),*
                ])
            }

            fn verilog(self) -> optireduce_hw::hdl::prelude::VerilogLiteral {
                optireduce_hw::hdl::word::struct_literal::<{ <#name as optireduce_hw::hdl::prelude::Synth>::BITS }>(
                    &[#((
                        <#types as optireduce_hw::hdl::prelude::Synth>::BITS,
                        optireduce_hw::hdl::prelude::Synth::verilog(self.#names),
                    )),*],
                )
            }
        }
    })
}
